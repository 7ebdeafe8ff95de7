"""Alerts about single low replies: of which, how many, to whom, and what becomes of their words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from bot.domain.case import CaseStatus
from bot.features.watch.news import tell_low
from bot.store.schema import cases, spent
from pocket_slack import Message
from tests.features.watch.watching import orders, say, seen, take_finished, told, write_low
from tests.stage import LOST, QUESTION, Stage, StageFactory, buttons, shown
from tests.watches import only

LOW = "score: 1\nIt names no source."
SOON = timedelta(minutes=6)  # a claim that was not kept is over by then


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(judge_samples=2, events=("message.channels",))
    await say(opened, "@helper all alert low")
    return opened


async def tell(stage: Stage, later: timedelta = timedelta()) -> None:
    await tell_low(stage.services_at(later))


async def a_low_reply(stage: Stage, number: int = 1, *answers: str) -> Message:
    stage.model.script(*(answers or (LOW,)))
    _, reply = stage.ask_and_answer()
    await seen(stage, number)
    await take_finished(stage)
    await stage.reaches(number, CaseStatus.DELIVERED)
    return reply


async def since_yesterday(stage: Stage) -> None:
    watch = await only(stage)
    ago = watch.since - timedelta(days=1)
    await orders(stage).save(replace(watch, low_since=ago), "U1")


async def test_a_low_reply_is_told_once_and_its_words_go_with_the_reply(stage: Stage) -> None:
    points = "relevant: yes\nuseful: no\nconcise: maybe\nexpert: no"
    reply = await a_low_reply(stage, 1, LOW, LOW, points)
    for later in (timedelta(), SOON):
        await tell(stage, later)
    (alert,) = told(stage)
    assert alert.text.startswith("helper got 1 of 5 for a reply in ")
    words = f"Question: “{QUESTION}”\n“It names no source.”\nMissed: useful, expert"
    assert words in shown(alert)
    assert buttons(alert) == ["fair", "not_fair"]
    verdict = await stage.log.cases.verdict(1)
    assert verdict
    assert verdict.input_tokens == 3 * 400  # the case has taken those of its points, once
    assert len(await stage.log.database.values(select(spent.c.id))) == 1
    stage.helper.delete(reply)
    await stage.slack.until(lambda: "source" not in shown(alert) and QUESTION not in shown(alert))


async def test_points_are_within_the_days_limits(open_stage: StageFactory) -> None:
    limited: Stage = await open_stage(
        judge_samples=2, events=("message.channels",), max_cases_per_day=1
    )
    await say(limited, "@helper all")
    await a_low_reply(limited)
    assert not any("criteria" in str(request) for request in limited.model.requests)


@pytest.mark.parametrize(
    ("rating", "number"),
    [
        ({"position": 0}, 0),  # a single low rating
        ({"probabilities": {0: 0.4, 1: 0.2, 5: 0.4}}, 0),
        ({"probabilities": {0: 0.5, 1: 0.2, 5: 0.3}}, 1),  # two thirds speak for two ratings
    ],
)
async def test_one_rating_is_told_only_if_its_probabilities_speak_for_two(
    stage: Stage, rating: dict[str, Any], number: int
) -> None:
    await since_yesterday(stage)
    await write_low(stage, 1, **rating)
    await tell(stage)
    assert len(told(stage)) == number


async def test_after_five_a_day_the_others_come_together_after_midnight(stage: Stage) -> None:
    await since_yesterday(stage)
    await write_low(stage, 7)
    for later, number in ((0, 5), (0, 5), (1, 6), (1, 6)):
        await tell(stage, timedelta(days=later))
        assert len(told(stage)) == number
    assert told(stage)[-1].text.startswith("helper got the lowest scores for 2 more replies in ")


async def test_what_was_deleted_before_the_alert_is_not_told(stage: Stage) -> None:
    await since_yesterday(stage)
    await write_low(stage, 1)
    await stage.log.database.execute(update(cases).values(deleted_at=datetime.now(UTC)))
    await tell(stage)
    assert told(stage) == []


@pytest.mark.parametrize("to", ["channel", "person"])
async def test_an_alert_whose_answer_was_lost_is_not_sent_again(stage: Stage, to: str) -> None:
    if to == "channel":
        await say(stage, "@helper alert here")
    await a_low_reply(stage)
    stage.slack.fail("chat.postMessage", **LOST[0])
    for later in (timedelta(), SOON, SOON):
        await tell(stage, later)
    (alert,) = told(stage) if to == "person" else stage.ours()
    assert (QUESTION in shown(alert)) is (to == "channel")


async def test_the_same_bad_answer_is_told_once_and_then_counted(stage: Stage) -> None:
    await since_yesterday(stage)
    await write_low(stage, 7)
    database = stage.log.database
    given = {"question": "How?", "response": "Ask  HR.", "justification": "Too short."}
    await database.execute(update(cases).values(given))
    others = {"question": "When?", "response": "ask hr."}
    await database.execute(update(cases).where(cases.c.id > 5).values(others))
    await tell(stage)
    # A lower score of the same answer is no news.
    await database.execute(update(cases).where(cases.c.id == 3).values(score=0))
    for later, number in ((0, 1), (1, 2), (1, 2)):
        await tell(stage, timedelta(days=later))
        assert len(told(stage)) == number
    later_one = shown(told(stage)[-1])
    assert "6 replies alike, such as to “How?”" in later_one
    assert later_one.count("|Score 0 of 5>") == 1
