"""Who hears that a watched assistant is below its floor, or that the judge's model ends."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from bot.domain.watch import Watch
from bot.features.watch import ids
from bot.features.watch.notices import tell_once
from bot.features.watch.queries import Unread
from bot.features.watch.retirements import Retirements
from bot.features.watch.text import unread_alert
from bot.pipeline.quoting import unquote
from bot.store.notices import Notices, day_of
from bot.store.schema import assignments, cases, notices
from judge import DEFAULT_MODEL
from tests.features.watch.watching import alarm, an_alarm, orders, say, told, write_scores
from tests.stage import CHANNEL, Stage, StageFactory, shown
from tests.watches import only


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
    return [message.text for message in told(stage, stage.slack.person(name))]


def channel_id(stage: Stage) -> str:
    return stage.slack.workspace.channel(CHANNEL).id


async def test_channel_and_people_hear_of_a_low_mean_once_and_its_words_can_go(
    stage: Stage,
) -> None:
    await change(stage, alerts_to=(channel_id(stage), stage.ann.id, stage.ben.id))
    await drop(stage)
    # As if all had come back in one batch, a moment ago: a score belongs to the time of its reply.
    now = datetime.now(UTC)
    database = stage.log.database
    await database.execute(update(cases).values(judged_at=now, justification="No source."))
    for _ in range(2):
        await alarm(stage)
    (in_channel,) = stage.ours()
    assert "is clearly below the 3.5 that this channel has set: mean 2." in in_channel.text
    assert direct(stage, "ann") == direct(stage, "ben") == [in_channel.text]
    messages = [in_channel, *told(stage)]
    for message in messages:
        assert shown(message).count("Score 2 of 5") == shown(message).count("“No source.”") == 2
    # Who is shown the lowest is not asked for them blind.
    assigned = await database.all(select(assignments.c.user_id, assignments.c.case_id))
    assert {who for who, _ in assigned} == {"*", stage.ann.id, stage.ben.id}
    lowest = {case_id for _, case_id in assigned}
    assert len(lowest) == 2
    # The reasons go with their cases.
    await unquote(stage.log, stage.services.client, [*lowest])
    for message in messages:
        assert "No source." not in shown(message)


async def test_after_an_alert_no_more_is_sent_that_day_and_no_score_told(stage: Stage) -> None:
    watch = await change(stage, alerts_to=(stage.ann.id,))
    now = datetime.now(UTC)
    notice = f"silent {day_of(now)}", stage.ann.id
    notices = Notices(stage.log.database)
    await notices.claim(watch, *notice, day_of(now), now)
    await notices.note_told(watch, *notice, now)
    await drop(stage)
    await alarm(stage)
    assert direct(stage, "ann") == []
    assert await stage.log.database.values(select(assignments.c.case_id)) == []


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
    watch = await change(stage, alerts_to=(stage.ben.id, stage.ann.id))
    stage.slack.fail(method, error=error)
    post = unread_alert(watch, "helper", Unread(watch.since, "x"))
    for later, number in ((timedelta(), 0), (until - timedelta(minutes=2), 0), (until, 1)):
        await tell_once(stage.services_at(later), watch, "first figures", post)
        assert (len(direct(stage, "ben")), len(direct(stage, "ann"))) == (number, 1)


async def test_a_mean_below_a_floor_that_was_set_later_is_told_once(stage: Stage) -> None:
    await write_scores(stage, [(0.2 * number, 2 + number % 2, 2) for number in range(165)])
    same = an_alarm(stage)
    for floor, number in ((None, 0), (1.5, 0), (7, 0), (3.5, 1)):  # 7 is of another scale
        await change(stage, alerts_to=(stage.ann.id,), floor=floor)
        for _ in range(2):
            await same.look()
        assert len(direct(stage, "ann")) == number


async def test_a_mean_that_stays_below_the_floor_is_told_again_after_a_week(stage: Stage) -> None:
    days = [(day, 2, 6) for day in range(-9, 34)]
    await write_scores(stage, days)
    await change(stage, alerts_to=(stage.ann.id,), floor=3.5)
    for days_later, number in ((0, 1), (2, 1), (8, 2)):
        await alarm(stage, timedelta(days=days_later))
        assert len(direct(stage, "ann")) == number


async def test_not_for_a_week_stops_the_floors_alert_where_it_was_pressed(stage: Stage) -> None:
    await change(stage, alerts_to=(channel_id(stage), stage.ann.id))
    await drop(stage)
    await alarm(stage)
    stage.ann.click(stage.ours()[0], ids.ACTION_PAUSE)
    await stage.slack.until(lambda: stage.ours()[1:])
    await stage.log.database.execute(delete(notices).where(notices.c.name.startswith("below")))
    await alarm(stage)
    assert (len(stage.ours()), len(told(stage))) == (2, 2)


async def test_the_end_of_a_model_is_told_once_from_sixty_days_before(stage: Stage) -> None:
    await change(stage, alerts_to=(stage.ann.id,))
    on = stage.services.clock().date() + timedelta(days=61)
    stage.model.models[DEFAULT_MODEL] = {"shutdown_date": f"{on}", "replacement": "gpt-7"}
    for days, times in ((0, 0), (1, 1), (1, 1)):
        await Retirements(stage.services_at(timedelta(days=days))).look()
        assert len(told(stage)) == times
    assert f"{on:%d %B %Y}" in direct(stage, "ann")[0]
