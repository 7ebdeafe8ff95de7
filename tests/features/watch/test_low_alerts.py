"""Alerts about single low replies: of which, how many, to whom, and what becomes of their words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from bot.domain.case import CaseStatus
from bot.features.watch.news import tell_low
from bot.store.notices import Notices, day_of
from bot.store.schema import cases, ratings, spent
from pocket_slack import Message
from tests.features.watch.watching import only, orders, say, seen, take_finished, told, write_scores
from tests.stage import LOST, QUESTION, Stage, StageFactory, buttons, shown

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


async def write_low(stage: Stage, count: int, **rating: Any) -> None:
    """Low replies of an hour ago, by two ratings or one with probabilities, as if just delivered."""
    await write_scores(stage, [(1 / 24, 1, count)])
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(update(cases).values(delivered_at=datetime.now(UTC)))
        columns = select(cases.c.team_id, cases.c.id)
        given = {"score": 1, "justification": "", "raw": ""} | rating
        rows = [
            {"team_id": team_id, "case_id": case_id, "position": position} | given
            for team_id, case_id in await connection.execute(columns)
            for position in range(1 if rating else 2)
        ]
        await connection.execute(insert(ratings), rows)


async def since_yesterday(stage: Stage) -> None:
    watch = await only(stage)
    await orders(stage).save(
        watch.__class__(**vars(watch) | {"low_since": watch.since - timedelta(days=1)}), "U1"
    )


async def test_a_low_reply_is_told_once_with_its_words_and_loses_them_with_the_reply(
    stage: Stage,
) -> None:
    reply = await a_low_reply(stage)
    for later in (timedelta(), SOON):
        await tell(stage, later)
    (alert,) = told(stage)
    assert alert.text.startswith("helper got 1 of 5 for a reply in ")
    assert f"Question: “{QUESTION}”\n“It names no source.”" in shown(alert)
    assert buttons(alert) == ["fair", "not_fair"]
    stage.helper.delete(reply)
    await stage.slack.until(lambda: "source" not in shown(alert) and QUESTION not in shown(alert))


async def test_the_points_of_a_low_reply_are_asked_for_once_and_said(stage: Stage) -> None:
    await a_low_reply(stage, 1, LOW, LOW, "relevant: yes\nuseful: no\nconcise: maybe\nexpert: no")
    await tell(stage)
    (alert,) = told(stage)
    assert "“It names no source.”\nMissed: useful, expert" in shown(alert)
    assert "Say for each of these criteria" in str(stage.model.requests[2])
    assert len(stage.model.requests) == 3
    verdict = await stage.log.cases.verdict(1)
    assert verdict
    assert (verdict.points or {})["relevant"] == 1.0
    assert verdict.input_tokens == 3 * 400  # the case has taken them, once
    assert len(await stage.log.database.values(select(spent.c.id))) == 1


async def test_points_are_within_the_days_limits(open_stage: StageFactory) -> None:
    limited: Stage = await open_stage(
        judge_samples=2, events=("message.channels",), max_cases_per_day=1
    )
    await say(limited, "@helper all")
    await a_low_reply(limited)
    assert not any("criteria" in str(request) for request in limited.model.requests)


async def test_a_single_low_rating_is_told_to_nobody(stage: Stage) -> None:
    await a_low_reply(stage, 1, LOW, "score: 2\nIt names one.")
    await a_low_reply(stage, 2, "score: 2\nIt is short.")
    await tell(stage)
    assert told(stage) == []


@pytest.mark.parametrize(("mass", "alerts"), [(0.6, 0), (0.7, 1)])
async def test_probabilities_speak_for_two_ratings(stage: Stage, mass: float, alerts: int) -> None:
    await since_yesterday(stage)
    await write_low(stage, 1, probabilities={0: mass - 0.2, 1: 0.2, 5: 1 - mass})
    await tell(stage)
    assert len(told(stage)) == alerts


async def test_after_five_a_day_the_others_come_together_after_midnight(stage: Stage) -> None:
    await since_yesterday(stage)
    await write_low(stage, 7)
    now = datetime.now(UTC)
    await Notices(stage.log.database).claim(
        await only(stage), f"worse {day_of(now)}", "U1", day_of(now), now
    )
    for _ in range(2):
        await tell(stage)
    assert len(told(stage)) == 5
    for _ in range(2):
        await tell(stage, timedelta(days=1))
    *_, last = told(stage)
    assert len(told(stage)) == 6
    assert last.text.startswith("helper got the lowest scores for 2 more replies in ")


async def test_what_was_deleted_before_the_alert_is_not_told(stage: Stage) -> None:
    stage.helper.delete(await a_low_reply(stage))

    async def is_deleted() -> bool:
        return (case := await stage.log.cases.get(1)) is not None and case.deleted_at is not None

    await stage.eventually(is_deleted)
    await tell(stage)
    assert told(stage) == []


@pytest.mark.parametrize("to", ["channel", "person"])
async def test_an_alert_whose_answer_was_lost_is_not_sent_again(stage: Stage, to: str) -> None:
    if to == "channel":
        await say(stage, "@helper alert here")
    await a_low_reply(stage)
    stage.slack.fail("chat.postMessage", drop=True, is_applied=True)
    for later in (timedelta(), SOON, SOON):
        await tell(stage, later)
    assert len(told(stage) if to == "person" else stage.ours()) == 1


async def test_an_alert_in_a_channel_gets_its_words_although_an_answer_was_lost(
    stage: Stage,
) -> None:
    await say(stage, "@helper alert here")
    await a_low_reply(stage)
    stage.slack.fail("chat.postMessage", **LOST[0])
    for later in (timedelta(), SOON):
        await tell(stage, later)
    (alert,) = stage.ours()
    assert QUESTION in shown(alert)


async def test_without_stored_texts_the_alert_has_no_words(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(
        judge_samples=2, events=("message.channels",), store_text="none"
    )
    await say(stage, "@helper all alert low")
    await a_low_reply(stage)
    await tell(stage)
    (alert,) = told(stage)
    assert "|Score 1 of 5> · helper · " in shown(alert)
    assert "“" not in shown(alert)


async def test_the_command_sets_and_ends_them(stage: Stage) -> None:
    assert "of each reply that is clearly scored lowest (0 or 1 of 5)" in await say(
        stage, "@helper alert here"
    )
    assert "lowest" not in await say(stage, "@helper alert low off")
    assert (await only(stage)).low_since is None


async def test_the_same_bad_answer_is_told_once_and_then_counted(stage: Stage) -> None:
    await since_yesterday(stage)
    await write_low(stage, 7)
    given = {"question": "How do I hand over?", "response": "Ask  HR."}
    await stage.log.database.execute(update(cases).values(given | {"justification": "Too short."}))
    others = {"question": "When is the office open?", "response": "ask hr."}
    await stage.log.database.execute(update(cases).where(cases.c.id > 5).values(others))
    for _ in range(2):
        await tell(stage)
    assert len(told(stage)) == 1
    for _ in range(2):
        await tell(stage, timedelta(days=1))
    (_, later) = told(stage)
    assert later.text.startswith("helper got the lowest scores for 6 more replies in ")
    assert "6 times: “How do I hand over?”" in shown(later)
    assert shown(later).count("|Score 1 of 5>") == 1
