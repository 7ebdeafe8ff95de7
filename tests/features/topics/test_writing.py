"""Which questions are to be written about, and what is counted with them."""

from bot.domain.outcome import Outcome, Sign
from bot.domain.questions import Question
from bot.features.topics.writing import LOW, to_asked, to_gaps
from bot.figures.outcomes import ScoredReplies, ScoredReply

UNANSWERED = frozenset({Sign.UNANSWERED})


def question(number: int, text_hash: str | None = None, *, is_answered: bool = True) -> Question:
    ts = f"{1795339203 + 60 * number}.000001"
    answer_ts = f"{1795339223 + 60 * number}.000001" if is_answered else None
    return Question("C1", ts, ts, "U1", is_meant=True, answer_ts=answer_ts, text_hash=text_hash)


def test_same_words_are_one_also_of_a_question_without_an_answer() -> None:
    asked = [question(1, "h"), question(2, "h", is_answered=False), question(3), question(4)]
    outcomes = [Outcome(each, UNANSWERED if not each.answer_ts else frozenset()) for each in asked]
    # The third has no score, so it is not known how well it was answered.
    scored = [
        ScoredReply(each, "C1", asked[each - 1].answer_ts or "", asked[each - 1].ts, score, 0, 5)
        for each, score in ((1, 5), (4, 1))
    ]
    texts = {1: ("@U9ABC How do I  hand over?", "tickets"), 4: ("And now?", None)}
    found = to_asked(outcomes, ScoredReplies(scored), texts, {("C1", asked[1].ts): "tickets"})
    assert len(found) == 3
    tickets, others = to_gaps(found)
    (group,) = tickets.groups
    assert (tickets.topic, group.text, len(group.asked), group.well) == (
        "tickets",
        "How do I  hand over?",
        2,
        1,
    )
    assert [each.why for each in group.bad] == [["unanswered"]]
    assert [each.why for each in others.groups[0].bad] == [[LOW]]
