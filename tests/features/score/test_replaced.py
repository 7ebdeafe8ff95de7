"""A verdict that another takes the place of folds to a line, and comes back once that other one is
forgotten.
"""

import pytest

from bot.domain.case import CaseStatus
from bot.slack import ids
from pocket_slack import Message
from tests.gestures import forget, link, scored, up_to_date
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, shown

WORSE = "score: 2\nIt leaves out what happens to the changes."


async def corrected(stage: Stage) -> tuple[Message, Message]:
    """The first verdict on a reply, and the one on another question that took its place."""
    _, first = await scored(stage, opening="Hello.")
    stage.model.script(WORSE)
    await stage.correct(stage.ann, first, "And what happens to the changes?")
    await stage.slack.until(lambda: "replaced by" in first.text)
    await stage.reaches(2, CaseStatus.DELIVERED)
    return first, stage.ours()[-1]


async def test_the_earlier_verdict_folds_to_one_line_with_a_link_and_stays_so_after_an_edit(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage(events=["message.channels"])
    first, second = await corrected(stage)
    url = link(stage, second).replace("&", "&amp;")
    assert first.text == f"Score 4 of 5 · replaced by <{url}|a newer verdict>, question changed"
    assert [block["type"] for block in first.blocks] == ["context"]
    assert second.text.startswith("Score 2 of 5")
    answer = next(m for m in stage.ann.thread(CHANNEL, first.thread_ts) if m.text == ANSWER)
    stage.helper.edit(answer, "Something else.")
    assert (await up_to_date(stage)).edited_at
    assert [block["type"] for block in first.blocks] == ["context"]


@pytest.mark.needs("privacy")
async def test_a_replaced_verdict_comes_back_when_the_later_one_is_forgotten(stage: Stage) -> None:
    first, _ = await corrected(stage)
    await forget(stage, stage.ann, "2")
    await stage.slack.until(lambda: "replaced by" not in first.text)
    assert first.text.startswith("Score 4 of 5: It answers")
    assert "replaced by" not in shown(first)


@pytest.mark.usefixtures("no_placeholder")
async def test_the_card_of_typed_texts_shows_the_score(stage: Stage) -> None:
    stage.ann.command(CHANNEL, ids.COMMAND, f"{QUESTION} | {ANSWER}")
    await stage.slack.until(lambda: len(stage.ours()) == 2)
    await stage.reaches(1, CaseStatus.DELIVERED)
    card, verdict = stage.ours()
    assert "*ann* asked for a score\n*Score 4 of 5*  ●●●●○" in shown(card)
    assert (card.edited, verdict.edited) == (None, None)
