"""What is said of rubrics, and the windows for them, fit into Slack's limits."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.domain.rubric import MOST_RUBRICS, ChannelJudge, SavedRubric
from bot.features.rubrics.replay_queries import ChannelReplay
from bot.features.rubrics.text import fits, no_model, no_rubric, rubric_modal, state
from bot.slack.blocks import ModalState
from judge import Rubric, list_rubrics, load_rubric
from pocket_slack.blocks import check_blocks
from tests.cases import TONE

FIRST = SavedRubric("T1", "C1", "tone", 1, TONE, "U1", datetime(2026, 11, 22, tzinfo=UTC))


SHIPPED = {name: load_rubric(name) for name in list_rubrics()}


def test_what_is_said_of_a_channel_with_many_rubrics_fits_into_a_message() -> None:
    own = [replace(FIRST, name=f"{number:02}{'x' * 38}", number=9999) for number in range(MOST_RUBRICS)]
    models = [f"some-vendor/a-large-model-{number}" for number in range(100)]
    wish = ChannelReplay(1, "T1", "C1", "U" * 20, own[1].name, "00000000", "m" * 200, FIRST.saved_at)
    said = state(ChannelJudge(own[0].name, "00000000", "m" * 200), "additive-5", list(SHIPPED), own, models, wish)
    check_blocks(said.blocks)
    assert all(saved.name in said.text for saved in own)
    assert len(no_rubric("x" * 3000, [*SHIPPED, *(saved.name for saved in own)])) <= 3000
    assert len(no_model("x" * 3000, models)) <= 3000


@pytest.mark.parametrize("name", list_rubrics())
def test_every_shipped_rubric_can_be_edited(name: str) -> None:
    assert fits(SHIPPED[name].prompt)


def test_a_prompt_is_parted_where_no_blank_line_would_be_lost() -> None:
    prompt = "\n\n".join([*(f"line {number}\nand more" for number in range(200)), TONE.strip()])
    view = rubric_modal(ModalState(rubric="tone"), Rubric("tone", prompt))
    first, rest = [block["element"]["initial_value"] for block in view["blocks"] if "element" in block][1:]
    assert f"{first}\n{rest}" == prompt
    assert (first, rest) == (first.strip(), rest.strip())
    assert 2950 < len(first) <= 3000
    assert not fits("x" * 3001)
    assert not fits("word\n" * 1300)
