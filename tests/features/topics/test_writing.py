"""Which questions are to be written about, and what is counted with them."""

from dataclasses import replace

from bot.domain.outcome import Outcome, Sign
from bot.domain.questions import Question
from bot.features.topics.counts import to_questions
from bot.features.topics.queries import SortedReply
from bot.features.topics.writing import LOW, to_gaps, why

UNANSWERED = frozenset({Sign.UNANSWERED})


def question(number: int, text_hash: str | None = None, *, is_answered: bool = True) -> Question:
    ts = f"{1795339203 + 60 * number}.000001"
    answer_ts = f"{1795339223 + 60 * number}.000001" if is_answered else None
    return Question("C1", ts, ts, "U1", is_meant=True, answer_ts=answer_ts, text_hash=text_hash)


def reply(to: Question, score: int, topic: str, text: str) -> SortedReply:
    number = int(float(to.ts))
    return SortedReply(number, "C1", to.answer_ts, to.ts, score, 0, 5, topic, to.ts, 1.0, "m", text)


def test_a_reply_is_one_question_also_after_two_messages_and_none_if_its_question_is_gone() -> None:
    first = question(1)
    again = replace(question(2), thread_ts=first.ts, answer_ts=question(3).answer_ts)
    first = replace(first, answer_ts=again.answer_ts)
    scored = [reply(first, 1, "", "How?"), reply(question(9), 1, "", "Where?")]
    outcomes = [Outcome(each, frozenset()) for each in (first, again)]
    found = to_questions(scored, outcomes, {})
    assert [each.question.ts for each in found] == [again.ts]


def test_same_words_are_one_also_of_a_question_without_an_answer() -> None:
    asked = [question(1, "h"), question(2, "h", is_answered=False), question(3), question(4)]
    outcomes = [Outcome(each, UNANSWERED if not each.answer_ts else frozenset()) for each in asked]
    # The third has no score, so it is not known how well it was answered.
    words = "How do I  hand over?"
    scored = [reply(asked[0], 5, "tickets", f"@U9ABC {words}"), reply(asked[3], 1, "", "And now?")]
    tickets, others = to_gaps(to_questions(scored, outcomes, {("C1", asked[1].ts): "tickets"}))
    (group,) = tickets.groups
    assert (tickets.topic, group.text, len(group.asked), group.well) == ("tickets", words, 2, 1)
    assert [why(each) for each in group.bad] == [["unanswered"]]
    assert [why(each) for each in others.asked] == [[LOW]]
