"""The windows and messages that ask for labels, for `tests/screens.py`."""

from bot.domain.label import Label
from bot.features.labels import text
from bot.slack.blocks import ModalState
from bot.slack.messenger import Post
from bot.store.assignments import LONGEST, DrawnCase
from judge import Turn
from judge.scoring.conversation import bounded
from tests.cases import bare_verdict
from tests.features.labels.test_label_windows import OTHER, RUBRIC
from tests.pipeline.test_verdict_text import a_case

STATE = ModalState(channel_id="C0123456789", case_id=7, labelled=(2**31 - 1,) * 3)


def make(words: str) -> None:
    said = words[: LONGEST // 2] or "x"
    highest = 1000 if len(words) > 100 else 5
    before = bounded([Turn("Person 1", said)] * 30)
    for rubric in (RUBRIC, OTHER, None):
        for turns in ((), before):
            shown = DrawnCase(7, "C1", said, said, "r", "v", 0, highest, 30, conversation=turns)
            text.blind_modal(STATE, shown, rubric, "1 of 3", words[:200])
    label = Label(1, words[: text.LONGEST_REASON] or None)
    for highest in (5, 100, 1000):
        text.label_modal(STATE, bare_verdict(1, lowest=0, highest=highest), label, RUBRIC)
    case = a_case(question=words or None, score=4, highest=5, thread_ts="1.1", reply_ts="2.1")
    effect = text.effect("C1", words[:200], None)
    found = [(case, 3)] * 3
    compared = text.compared_blocks(found, "https://acme.slack.com/", effect, is_asked=True)
    text.compared_modal(STATE, compared, text.NOT_RECORDED)
    text.over_modal(text.NOTHING, compared, words[:200])
    Post(text.ASKED.text, text.with_choice(text.ASKED.blocks, bool(words)))
