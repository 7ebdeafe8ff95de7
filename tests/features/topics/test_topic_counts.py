"""Counts and means of topics, and where a change lies: planted topics with planted means."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from bot.domain.outcome import Sign
from bot.domain.questions import Question
from bot.features.topics.change import FoundChange, TopicScore, find_change
from bot.features.topics.counts import Report, SortedQuestion, to_report
from bot.features.topics.queries import SortedReply
from bot.features.topics.text import topics_blocks, week_block
from bot.store.figures import to_ts
from judge.scoring.rubric import Scale
from tests.cases import NOW
from tests.texts import read

SINCE = datetime(2026, 11, 16, tzinfo=UTC)
FIVE = Scale(0, 5)


def scores(
    topic: str, mean: float, number: int, *, is_before: bool, seed: int = 1
) -> list[TopicScore]:
    """Scores of a topic about a mean, in the four weeks before a change or in the week since."""
    draws = Random(f"{topic} {mean} {number} {seed}")
    days = 28 if is_before else 7
    begin = SINCE - timedelta(days=28 if is_before else 0)
    return [
        TopicScore(
            topic,
            begin + timedelta(days=days * at / number),
            ("C1", f"{topic} {is_before} {at}"),
            min(max(round(draws.gauss(mean, 0.9)), 0), 5),
        )
        for at in range(number)
    ]


def found(
    *topics: tuple[str, tuple[float, int], tuple[float, int]], seed: int = 1
) -> FoundChange | None:
    """What is found of topics with these means and numbers before and since."""
    given = [
        score
        for topic, before, since in topics
        for score in (
            *scores(topic, *before, is_before=True, seed=seed),
            *scores(topic, *since, is_before=False, seed=seed),
        )
    ]
    return find_change(given, SINCE, FIVE, is_lower=True)


def test_a_drop_in_one_topic_is_said_to_be_only_there() -> None:
    change = found(
        ("expenses", (4, 120), (1.8, 40)),
        ("leave", (4, 120), (4, 40)),
        ("passwords", (3.5, 120), (3.5, 40)),
    )
    assert change.topic == "expenses"


def test_a_topic_that_only_grows_moves_the_mix_and_no_level() -> None:
    change = found(
        ("expenses", (2, 60), (2, 80)), ("leave", (4.2, 200), (4.2, 30)), ("other", (4, 40), (4, 5))
    )
    assert change == FoundChange()


@pytest.mark.parametrize("is_everywhere", [True, False])
def test_a_drop_of_all_topics_or_of_none_is_explained_by_none(is_everywhere: bool) -> None:
    now = 3.0 if is_everywhere else 4.0
    names = [f"topic {number}" for number in range(9)]
    explained = [
        change.topic
        for seed in range(20)
        if (change := found(*((name, (4, 40), (now, 15)) for name in names), seed=seed))
    ]
    assert explained == []


def questions(
    topic: str, given: Sequence[int | None], probability: float = 1.0
) -> list[SortedQuestion]:
    """Questions on a topic with these scores; None has no answer."""
    found = list[SortedQuestion]()
    for number, score in enumerate(given):
        ts = to_ts(NOW - timedelta(hours=number))
        thread_ts = f"{topic} {ts}"
        reply = None
        if score is not None:
            reply = SortedReply(
                number, "C1", ts, thread_ts, score, 0, 5, topic, thread_ts, probability, "m", "Why?"
            )
        question = Question("C1", ts, ts, "U1", is_meant=True)
        signs = {Sign.UNANSWERED} if score is None else ()
        found.append(SortedQuestion(topic, question, reply, signs))
    return found


def report_of(*topics: Sequence[SortedQuestion]) -> Report:
    return to_report([question for topic in topics for question in topic], [])


def test_a_topic_is_named_from_ten_questions_on_and_the_rest_is_counted_together() -> None:
    report = report_of(
        questions("expenses", [2, 2, 3] * 10),
        questions("leave", [4] * 10),
        questions("visas", [1] * 9),
        questions("other", [4] * 12),
    )
    lines = str(read(topics_blocks(" U1", "helper", report))).splitlines()
    assert lines[2].startswith("• *expenses*: 30 questions · mean *2.3*, between ")
    assert lines[3].startswith("• *leave*: 10 questions · mean *4.0*, between ")
    # (9 * 1 + 12 * 4) / 21
    assert lines[4].startswith("• All else: 21 questions · mean *2.7*, between ")


def test_an_unanswered_question_is_a_share_of_all_questions_also_of_those_not_drawn() -> None:
    report = report_of(questions("expenses", [4] * 12 + [None] * 10, probability=0.2))
    # 12 of a fifth stand for 60: 10 / 70
    said = str(read(topics_blocks(" U1", "helper", report)))
    assert "10 not answered within a day (14%)" in said


def test_a_digest_names_the_topic_that_clearly_scores_lowest_or_else_the_most_frequent() -> None:
    leave = questions("leave", [4] * 20)
    low = week_block(" U1", "helper", report_of(questions("expenses", [2] * 31), leave), "")
    alike = week_block(" U1", "helper", report_of(questions("expenses", [4, 5] * 20), leave), "")
    said = "Topics of *helper* in four weeks: "
    assert str(read([low])).startswith(f"{said}*expenses* 31 questions, *2.0*; all others 4.0.")
    assert str(read([alike])).startswith(
        f"{said}most often *expenses* (40 questions). None scores clearly lower"
    )
    assert week_block(" U1", "helper", report_of(questions("visas", [1] * 9)), "") is None
