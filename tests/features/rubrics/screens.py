"""The messages and windows of rubrics, for `tests/screens.py`."""

from dataclasses import replace

from bot.features.rubrics import reference_text, text
from bot.features.rubrics.queries import MOST_RUBRICS
from bot.store.rubrics import ChannelJudge
from judge import Rubric
from tests.cases import TONE
from tests.features.rubrics.test_rubrics_texts import FIRST, NOW, SHIPPED

STATE = text.RubricState(channel_id="C0123456789", rubric="tone", version="00000000")


def make(words: str) -> None:
    prompt = f"{words[:2900].replace('{', '(')}\n\n{TONE}"
    rubric = Rubric("tone", prompt)
    many = 1 + len(words) % MOST_RUBRICS
    own = [
        replace(FIRST, name=f"{number:02}{'x' * (many + 10)}", number=9999, prompt=prompt)
        for number in range(many)
    ]
    models = [f"some-vendor/{words[:20]}-{number}" for number in range(many * 3)]
    chosen = ChannelJudge(own[0].name, "00000000", words[:200] or None)
    text.state(chosen, "additive-5", list(SHIPPED), own, models)
    text.ask_to_delete(own[0])
    text.saved(rubric, text.ask_to_use(chosen, "additive-5", "{}"))
    text.begin_modal(STATE, rubric.prompt)
    text.rubric_modal(STATE, "tone-2", NOW.prompt)
    text.view_modal(rubric)
    for reference in ("", words[:20_000]):
        reference_text.reference_modal(STATE, reference)
    reference_text.message_modal(words[:300] or "x")
