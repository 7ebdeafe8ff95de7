"""The messages and windows of cases and verdicts, for `tests/screens.py`."""

from datetime import timedelta

from bot.domain.case import Visibility
from bot.pipeline import text, verdict_text
from bot.slack import ids
from bot.slack.blocks import ModalState
from judge import Turn
from tests.cases import NOW, bare_verdict
from tests.pipeline.test_verdict_text import a_case, ratings

URL = "https://acme.slack.com/"
STATE = ModalState(
    channel_id="C0123456789",
    response_url=f"https://hooks.slack.com/commands/{'x' * 200}",
    case_id=7,
)


def make(words: str) -> None:
    text.refused_modal()
    text.installed_in(words[:80], "T0123456789", is_first=False)
    text.installed_in(words[:80], "T0123456789", is_first=True)
    text.outage(NOW, verdict_text.cause_of("QuotaExceededError"))
    case = a_case(
        question=words, response=words, requester_name=words[:80] or "ann", unread=words[:200]
    )
    scored = bare_verdict(
        justification=words, model=words[:80] or "m", ratings=ratings(5, 3, 4), spread=2
    )
    unscored = bare_verdict(None, detail=words)
    for verdict in (scored, unscored):
        made = verdict_text.verdict_message(case, verdict, words[:200])
        verdict_text.amended(made, case.model_copy(update={"edited_at": case.created_at}))
        verdict_text.known_verdict(case, verdict, URL)
        verdict_text.known_verdict(
            case.model_copy(update={"visibility": Visibility.ME}), verdict, URL
        )
        text.texts(case, verdict)
    verdict_text.replaced(case, scored, a_case(id=8), URL)
    text.texts(case.model_copy(update={"question": None, "response": None}))
    text.later(case, timedelta(minutes=6), 3)
    text.ask_for_question(case, text.OUT_OF_REACH)
    text.texts_modal(
        STATE,
        ["additive-5", *[f"{number:02}{'x' * 38}" for number in range(len(words) % 21)]],
        "additive-5",
        Visibility.ME,
    )
    said = {
        f"1.{number}": Turn(words[:80] or "Person 1", words or "Hello.")
        for number in range(1 + len(words) % 25)
    }
    text.question_modal(case, ids.VIEW_CORRECT, text.WRONG_QUESTION, STATE, said)
