"""The texts of a verdict and beside it (see `__snapshots__`), in the situations that differ."""

from datetime import UTC, datetime, timedelta
from typing import Any

from syrupy.assertion import SnapshotAssertion

from bot.domain.blocker import MAY_NOT_READ
from bot.domain.case import CaseSource, QuestionSource, Visibility, text_hash
from bot.domain.verdict import OFFLINE
from bot.pipeline import text
from bot.pipeline.verdict_text import in_short, verdict_message
from bot.slack.blocks import ModalState
from bot.slack.members import MembershipError
from judge import Flag, Turn
from tests.cases import bare_verdict
from tests.pipeline.test_verdict_text import a_case, ratings
from tests.texts import read, read_window, unlike

TOO_LONG = "The response is 100,001 characters long, and the limit is 100,000: shorten it."
ALONE = {"question": None, "question_source": None}
SPLIT = {"score": 3, "ratings": ratings(3, 5, 2, 3), "spread": 3, "justification": "Because 3."}


def none(reason: str, detail: str = "", **changes: Any) -> dict[str, Any]:
    """The fields of a verdict without a score."""
    return {"score": None, "reason": reason, "detail": detail} | changes


SITUATIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a rating without a score": ({}, {"ratings": ratings(4, None, 5), "basis": "2 of 3"}),
    "ratings that split": (ALONE, SPLIT),
    "a split of a forgotten case": (
        ALONE | {"forgotten_at": datetime(2026, 11, 21, tzinfo=UTC)},
        SPLIT,
    ),
    "a split without a score": ({}, none("split", "x", ratings=ratings(5, 1, 3), spread=4)),
    "a question further up": (
        {"question_source": QuestionSource.EARLIER, "messages_before": 2},
        {},
    ),
    "two typed texts": ({"question_source": QuestionSource.TYPED, "message_ts": None}, {}),
    "the offline rater": ({}, {"model": OFFLINE}),
    "all flags": ({}, {"flags": tuple(Flag)}),
    "a text that is too long": ({}, none("too_long", TOO_LONG)),
    "an unknown reason": ({}, none("something_new")),
    "a message that the app may not read": (
        {"response": None, "blocker": MAY_NOT_READ},
        none("blocker", "Not read."),
    ),
    "a message without text": ({"response": "", "blocker": "No text."}, none("blocker", "Empty.")),
}


def shown(case: dict[str, Any], verdict: dict[str, Any]) -> str:
    """The line of a notification, the reason in a list, the message and its buttons."""
    made = bare_verdict(**verdict)
    post = verdict_message(a_case(**case), made)
    return "\n".join(
        [post.text, in_short(made.unscored_reason) if made.unscored else "", read(post.blocks)]
    )


def test_a_verdict_says_what_is_known_of_its_score(snapshot: SnapshotAssertion) -> None:
    usual = shown({}, {})
    assert usual == snapshot(name="usual")
    for name, (case, verdict) in SITUATIONS.items():
        assert unlike(usual, shown(case, verdict)) == snapshot(name=name)


def test_what_is_said_before_and_without_a_verdict_reads_as_in_the_snapshot(
    snapshot: SnapshotAssertion,
) -> None:
    case = a_case(model_tries=2)
    link = a_case(source=CaseSource.LINK)
    posts = [
        text.PLACEHOLDER,
        *(text.later(case, timedelta(seconds=pause_s), 3) for pause_s in (10, 60, 360)),
        text.texts(case),
        text.texts(a_case(question="x" * 3001), bare_verdict()),
        text.sentence(text.FORGOTTEN_TEXTS),
        text.IN_PROGRESS,
        text.ask_for_question(case, text.OUT_OF_REACH),
        text.sentence(text.unsure_of_membership(MembershipError("missing_scope"))),
        text.sentence(text.unsure_of_membership(MembershipError("internal_error"))),
        *(text.sentence(text.accepted(each)) for each in (case, link)),
    ]
    assert "\n".join(read(post.blocks) for post in posts) == snapshot


def test_the_windows_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    state = ModalState(case_id=7, channel_id="C1")
    said = {"1.1": Turn("Person 1", "Hello.")}
    lost = a_case(question=None, response=None, question_hash="x", response_hash="x", blocker=None)
    windows = [
        text.texts_modal(state, ["additive-5", "code", "own"], "own", Visibility.ME),
        text.texts_modal(state, ["additive-5"], "additive-5", None),
        text.question_modal(a_case(), "id", text.WRONG_QUESTION, state),
        text.question_modal(a_case(), "id", text.WRONG_QUESTION, state, said),
        text.question_modal(lost, "id", text.OUT_OF_SIGHT, state),
    ]
    errors = [
        text.text_errors("", ""),
        text.text_errors("Why?", "Why?"),
        text.question_errors("", may_choose=True),
    ]
    errors.append(text.question_errors("Why?", a_case(question_hash=text_hash("Why?"))))
    said_wrong = [error for each in errors for error in each.values()]
    assert "\n\n".join([*map(read_window, windows), *said_wrong]) == snapshot
