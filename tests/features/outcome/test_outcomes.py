"""What came of questions, by the messages of their threads."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from bot.domain.outcome import ReadSigns, Sign, counted, outcomes_of
from bot.domain.questions import Question, Says, SeenMessage, questions_to, to_time
from judge.evaluation.signs import Signs
from tests.tables import each

START = 1_795_000_000
HELPER = "U9"
NOW = to_time(f"{START}.000000") + timedelta(days=2)


def ts(seconds: float) -> str:
    return f"{START + seconds:.6f}"


def a_message(
    seconds: float, author_id: str, thread: float | None = None, **changes: object
) -> SeenMessage:
    """A message so long after the start; by the assistant, by "ann" and the like."""
    is_app = author_id == HELPER
    message = SeenMessage(
        team_id="T1",
        channel_id="C1",
        ts=ts(seconds),
        thread_ts=ts(seconds if thread is None else thread),
        author_id=author_id,
        is_app=is_app,
        says=Says.WORDS,
        text_hash=None if is_app else f"{author_id} {seconds}",
        finished_at=to_time(ts(seconds)),
    )
    return replace(message, **changes)  # type: ignore[arg-type]


def asked(seconds: float, author_id: str = "ann", **changes: object) -> SeenMessage:
    return a_message(seconds, author_id, mentions=(HELPER,), **changes)


def found(*messages: SeenMessage) -> Sequence[Question]:
    # In no order: a channel is read from its newest message.
    return questions_to(HELPER, reversed(messages), NOW)


def test_an_answer_in_the_thread_has_two_times() -> None:
    end = to_time(ts(50))
    (question,) = found(asked(0), a_message(20, HELPER, 0, finished_at=end))
    assert question.waited == timedelta(seconds=20)
    assert question.answered_at == end


@each(
    "reply",
    [
        a_message(20, HELPER, 0, says=Says.NOTHING),
        a_message(20, HELPER, 0, finished_at=None),
        a_message(20, "U8", 0, is_app=True),
        a_message(20, "ben", 0),
    ],
)
def test_steps_a_broken_stream_and_others_are_no_answer(reply: SeenMessage) -> None:
    (question,) = found(asked(0), reply)
    assert question.is_unanswered(NOW)
    assert question.by_colleague == (reply.author_id == "ben")


def test_an_answer_belongs_to_the_messages_in_a_row_before_it() -> None:
    first, second = found(
        asked(0),
        a_message(5, "ann", 0),
        a_message(20, HELPER, 0),
        a_message(60, "ann", 0),
        a_message(90, HELPER, 0),
    )
    assert (first.waited, second.waited) == (timedelta(seconds=20), timedelta(seconds=30))


def test_an_answer_in_the_channel_counts_for_a_quarter_of_an_hour() -> None:
    late = 16 * 60
    (question,) = found(
        a_message(0, "ann"),
        a_message(20, HELPER),
        a_message(100, "ben"),
        a_message(100 + late, HELPER),
    )
    assert question.asker_id == "ann"


def test_a_message_that_does_not_mention_it_is_a_question_only_if_it_was_answered() -> None:
    questions = found(a_message(0, "ann"), a_message(100, "ben"), a_message(120, HELPER, 100))
    assert [question.asker_id for question in questions] == ["ben"]


@each(("answered", "expected"), [(4, 5), (3, 3)])
def test_who_answers_four_in_five_is_meant_by_all(answered: int, expected: int) -> None:
    messages = [a_message(100 * number, f"P{number}") for number in range(5)]
    messages += [a_message(100 * number + 9, HELPER, 100 * number) for number in range(answered)]
    assert len(found(*messages)) == expected


def test_thanks_are_no_question_and_a_form_is_one() -> None:
    thanks = asked(0, says=Says.THANKS)
    form = a_message(50, "B1", is_app=True, mentions=(HELPER,))
    in_thread = a_message(90, "B1", 50, is_app=True, mentions=(HELPER,))
    (question,) = found(thanks, form, a_message(60, HELPER, 50), in_thread)
    assert question.ts == form.ts


def test_a_colleague_steps_in_after_the_answer_and_the_asker_does_not() -> None:
    thread = [asked(0), a_message(20, HELPER, 0), a_message(40, "ann", 0, says=Says.THANKS)]
    (alone,) = found(*thread)
    (thanked,) = found(*thread, a_message(60, "ben", 0, says=Says.THANKS))
    (joined,) = found(*thread, a_message(60, "ben", 0))
    assert [alone.by_colleague, thanked.by_colleague, joined.by_colleague] == [False, False, True]


def test_a_forgotten_person_has_no_question_and_has_joined_those_of_others() -> None:
    thread = [asked(0, "ben"), a_message(20, HELPER, 0), a_message(40, "", 0)]
    follow_up = [a_message(60, HELPER, 0), a_message(80, "ben", 0), asked(100, "")]
    signs = {("C1", ts(0)): ReadSigns(Signs(False, False, True, False), ts(80))}
    (outcome,) = outcomes_of(found(*thread, *follow_up), NOW, signs)
    # What was read is about the answer to the other question.
    assert outcome.signs == {Sign.COLLEAGUE}


@each(("hours", "came_back"), [(23, True), (25, False)])
def test_the_same_asked_again_within_a_day_comes_back(hours: int, came_back: bool) -> None:
    again = asked(hours * 3600, text_hash="same", channel_id="C2")
    first, second = found(asked(0, text_hash="same"), a_message(20, HELPER, 0), again)
    assert (first.came_back, second.came_back) == (came_back, False)


def test_an_unanswered_question_is_the_slowest() -> None:
    # Waits of 10 to 80 s, and two of ten without an answer: the median is the sixth, the slowest
    # tenth begins with an unanswered one.
    messages = [asked(timedelta(days=2).total_seconds() - 60)]
    for number in range(10):
        messages.append(asked(1000 * number, f"P{number}"))
        if number < 8:
            messages.append(a_message(1010 * number + 10, HELPER, 1000 * number))
    questions = found(*messages)
    outcomes = counted(outcomes_of(questions, NOW))
    assert (outcomes.questions, outcomes.answered, outcomes.waiting) == (11, 8, 1)
    assert (outcomes.median, outcomes.slowest_tenth) == (timedelta(seconds=60), None)
    # Signs are counted once silence is one, too: of none yet, and a day later of all but the last.
    assert (outcomes.known, outcomes.too_new) == (0, 11)
    later = counted(outcomes_of(questions, NOW + timedelta(days=1, hours=3)))
    assert (later.known, later.too_new) == (10, 1)
    assert (later.signs[Sign.UNANSWERED], later.signs[Sign.QUIET]) == (2, 8)
