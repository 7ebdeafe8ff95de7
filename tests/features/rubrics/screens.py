"""The messages and windows of rubrics, for `tests/screens.py`."""

from dataclasses import replace

from bot.features.rubrics import improvement_text as improving
from bot.features.rubrics import text
from bot.slack.blocks import ModalState
from bot.store.rubrics import MOST_RUBRICS, ChannelJudge
from judge import Rubric
from judge.evaluation.align import Way
from tests.cases import TONE
from tests.features.rubrics.test_rubrics_texts import (
    CALIBRATION,
    FIRST,
    LONG,
    NOW,
    SHIPPED,
    STRICT,
    an_improvement,
    compared,
    reported,
)

STATE = ModalState(channel_id="C0123456789", rubric="tone", version="00000000")


def make(words: str) -> None:
    prompt = f"{words[:2900].replace('{', '(')}\n\n{TONE}"
    rubric, many = Rubric("tone", prompt), 1 + len(words) % MOST_RUBRICS
    own = [
        replace(FIRST, name=f"{number:02}{'x' * (many + 10)}", number=9999, prompt=prompt)
        for number in range(many)
    ]
    models = [f"some-vendor/{words[:20]}-{number}" for number in range(many * 3)]
    chosen = ChannelJudge(own[0].name, "00000000", words[:200] or None)
    text.state(chosen, "additive-5", list(SHIPPED), own, models)
    text.ask_to_delete(own[0])
    text.rubric_modal(STATE, rubric)
    text.rubric_modal(STATE, NOW, "tone-2")
    text.saved_modal(STATE, rubric)
    text.view_modal(rubric)
    for reference in ("", words[: text.MOST_OF_REFERENCE]):
        for its in (rubric, SHIPPED[text.REFERENCE_RUBRIC]):
            text.reference_modal(STATE, reference, its)
    text.message_modal(words[:300] or "x")
    improving.view_modal(NOW, rubric)
    started = improving.progress(an_improvement(), improving.stage(Way.EXAMPLES, 0), words[:200])
    improving.decided(started.blocks, words[:1000] or "x", 7)
    for changes in (
        {"rubric": rubric},
        {"rubric": STRICT},
        {"rubric": LONG.calibrated(CALIBRATION), "way": Way.CALIBRATION, "in_use": LONG},
    ):
        reported(*[0] * 8, **changes)
    reported(0, 2, 0, 2, attempts=1)
    for rows in ([(5, 3, 3)] * 12, [(3, 4, 3)] * 9, []):
        compared(*rows, is_cut=bool(words), is_offline=bool(words))
