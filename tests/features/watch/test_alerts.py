"""Who hears when a watched assistant is below its floor, and of what."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from bot.domain.watch import Watch
from bot.features.watch import ids
from bot.features.watch.notices import tell_once
from bot.features.watch.queries import Unread
from bot.features.watch.text import unread_alert
from bot.pipeline.quoting import unquote
from bot.store.notices import Notices, day_of
from bot.store.schema import assignments, cases, notices
from tests.features.watch.watching import (
    alarm,
    an_alarm,
    only,
    orders,
    say,
    until_noon,
    write_scores,
)
from tests.stage import CHANNEL, Stage, StageFactory, shown


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage()
    await say(opened, "@helper all alert off")
    return opened


async def change(stage: Stage, **changes: Any) -> Watch:
    """The watch, set otherwise."""
    changed = replace(await only(stage), **changes)
    await orders(stage).save(changed, stage.ann.id)
    return changed


async def drop(stage: Stage) -> None:
    """Writes four weeks with good scores, and one with bad ones, below a floor."""
    await change(stage, floor=3.5)
    days = [(day, 4 + day % 2, 5) for day in range(10, 34)] + [
        (0.1 * hour, 2 + hour % 2, 3) for hour in range(20)
    ]
    await write_scores(stage, days)


def direct(stage: Stage, name: str) -> list[str]:
    """What the app wrote to a person in direct messages."""
    im = stage.slack.workspace.channel(stage.slack.person(name).im)
    return [message.text for message in im.messages.values()]


async def test_the_channel_and_several_people_hear_of_a_drop_each_once(stage: Stage) -> None:
    channel_id = stage.slack.workspace.channel(CHANNEL).id
    await change(stage, alerts_to=(channel_id, stage.ann.id, stage.ben.id))
    await drop(stage)
    for _ in range(2):
        await alarm(stage)
    (told,) = stage.ours()
    assert "is clearly below the 3.5 that this channel has set: mean 2." in told.text
    assert shown(told).count("Score 2 of 5") == 2
    assert direct(stage, "ann") == direct(stage, "ben") == [told.text]


async def test_the_reasons_in_an_alert_go_from_channel_and_direct_message_with_their_cases(
    stage: Stage,
) -> None:
    await change(stage, alerts_to=(stage.slack.workspace.channel(CHANNEL).id, stage.ann.id))
    await drop(stage)
    await stage.log.database.execute(update(cases).values(justification="It names no source."))
    await alarm(stage)
    im = stage.slack.workspace.channel(stage.ann.im)
    told = [*stage.ours(), *im.messages.values()]
    assert [shown(message).count("“It names no source.”") for message in told] == [2, 2]
    assert stage.services
    await unquote(
        stage.log, stage.services.client, await stage.log.database.values(select(cases.c.id))
    )
    assert [shown(message).count("It names no source.") for message in told] == [0, 0]
    assert shown(told[1]).count("Score 2 of 5") == 2


@pytest.mark.parametrize("is_to_all", [False, True])
async def test_who_is_shown_the_lowest_is_not_asked_for_them_blind(
    stage: Stage, is_to_all: bool
) -> None:
    await change(
        stage, alerts_to=(stage.slack.workspace.channel(CHANNEL).id if is_to_all else stage.ann.id,)
    )
    await drop(stage)
    await alarm(stage)
    async with stage.log.database.engine.connect() as connection:
        order = cases.c.score, cases.c.judged_at.desc()
        lowest = select(cases.c.id).order_by(*order).limit(2)
        expected = {
            (case_id, "*" if is_to_all else stage.ann.id)
            for case_id in await connection.scalars(lowest)
        }
        told = await connection.execute(select(assignments.c.case_id, assignments.c.user_id))
        assert {tuple(row) for row in told} == expected


async def test_an_alert_that_is_not_sent_tells_no_scores(stage: Stage) -> None:
    watch = await change(stage, alerts_to=(stage.ann.id,))
    now = datetime.now(UTC)
    name = f"silent {day_of(now)}"
    notices = Notices(stage.log.database)
    await notices.claim(watch, name, stage.ann.id, day_of(now), now)
    await notices.note_told(watch, name, stage.ann.id, now)
    await drop(stage)
    await alarm(stage)
    assert direct(stage, "ann") == []
    async with stage.log.database.engine.connect() as connection:
        assert (await connection.execute(select(assignments))).all() == []


async def test_who_may_not_look_into_the_channel_any_more_hears_nothing(stage: Stage) -> None:
    stage.slack.workspace.channel(CHANNEL).is_private = True
    await change(stage, alerts_to=(stage.ben.id, stage.ann.id))
    stage.ben.leave(CHANNEL)
    await drop(stage)
    await alarm(stage)
    await alarm(
        stage, timedelta(minutes=18)
    )  # a claim that was not kept would be taken over by then
    assert (len(direct(stage, "ann")), direct(stage, "ben")) == (1, [])


@pytest.mark.parametrize("refusal", ["", "user_disabled"])
async def test_who_cannot_be_reached_is_tried_once_a_day(stage: Stage, refusal: str) -> None:
    await drop(stage)
    await change(stage, alerts_to=(stage.ben.id,))
    stage.slack.workspace.channel(CHANNEL).is_private = True
    if refusal:
        stage.slack.fail("chat.postMessage", error=refusal)
    else:
        stage.ben.leave(CHANNEL)
    noon = until_noon()
    await alarm(stage, noon)
    if not refusal:
        stage.ann.invite(CHANNEL, "ben")
    for later, told in ((timedelta(minutes=18), 0), (timedelta(days=1, minutes=18), 1)):
        await alarm(stage, noon + later)
        assert len(direct(stage, "ben")) == told


@pytest.mark.parametrize(
    ("method", "error", "until"),
    [
        ("chat.postMessage", "user_disabled", timedelta(days=1, minutes=6)),
        ("chat.postMessage", "token_revoked", timedelta(minutes=6)),
        ("users.conversations", "internal_error", timedelta(minutes=6)),
    ],
)
async def test_news_that_was_not_sent_is_tried_again(
    stage: Stage, method: str, error: str, until: timedelta
) -> None:
    watch = await change(stage, alerts_to=(stage.ben.id,))
    stage.slack.fail(method, error=error)
    for later, told in ((timedelta(), 0), (until - timedelta(minutes=2), 0), (until, 1)):
        await tell_once(
            stage.services_at(later),
            watch,
            "first figures",
            unread_alert(watch, "helper", Unread(watch.since, "x")),
        )
        assert len(direct(stage, "ben")) == told


async def test_a_mean_below_the_floor_is_told_of_once_also_if_the_floor_is_set_later(
    stage: Stage,
) -> None:
    await write_scores(stage, [(0.2 * number, 2 + number % 2, 2) for number in range(165)])
    same = an_alarm(stage)
    for floor, told in ((None, 0), (1.5, 0), (7, 0), (3.5, 1)):  # 7 is of another scale
        await change(stage, alerts_to=(stage.ann.id,), floor=floor)
        for _ in range(2):
            await same.look()
        assert len(direct(stage, "ann")) == told
    assert "is clearly below the 3.5 that this channel has set: mean 2." in direct(stage, "ann")[0]


async def test_a_mean_that_stays_below_the_floor_is_told_of_again_after_a_week(
    stage: Stage,
) -> None:
    days = [(day, 2, 6) for day in range(-9, 34)]
    await write_scores(stage, days)
    await change(stage, alerts_to=(stage.ann.id,), floor=3.5)
    for days_later, told in ((0, 1), (2, 1), (8, 2)):
        await alarm(stage, timedelta(days=days_later))
        assert len(direct(stage, "ann")) == told


async def test_a_test_of_the_same_day_is_not_taken_for_an_alert_that_was_lost(stage: Stage) -> None:
    await change(stage, alerts_to=(stage.slack.workspace.channel(CHANNEL).id,))
    await say(stage, "")
    listed = stage.ann.ephemerals(CHANNEL)[-1]
    stage.ann.click(listed, ids.ACTION_TEST_ALERT)
    await stage.slack.until(lambda: len(stage.ours()) == 1)
    await drop(stage)
    stage.slack.fail("chat.postMessage", drop=True)
    await alarm(stage)
    await alarm(stage, timedelta(minutes=18))  # the claim of the one before is over
    assert any("is clearly below" in each.text for each in stage.ours())


async def test_a_score_belongs_to_the_time_of_its_reply(stage: Stage) -> None:
    channel_id = stage.slack.workspace.channel(CHANNEL).id
    await change(stage, alerts_to=(channel_id,))
    await drop(stage)
    # As if all had come back in one batch, a moment ago.
    await stage.log.database.execute(update(cases).values(judged_at=datetime.now(UTC)))
    await alarm(stage)
    (told,) = stage.ours()
    assert "is clearly below" in told.text


async def test_not_for_a_week_stops_the_floors_alert_in_the_channel_that_said_so(
    stage: Stage,
) -> None:
    channel_id = stage.slack.workspace.channel(CHANNEL).id
    await change(stage, alerts_to=(channel_id, stage.ann.id))
    await drop(stage)
    await alarm(stage)
    (told,) = stage.ours()
    stage.ann.click(told, ids.ACTION_PAUSE)
    await stage.slack.until(lambda: "has paused these alerts" in shown(told))
    await stage.log.database.execute(delete(notices).where(notices.c.name.startswith("below")))
    await alarm(stage)
    assert len(stage.ours()) == 1
    assert len(direct(stage, "ann")) == 2
