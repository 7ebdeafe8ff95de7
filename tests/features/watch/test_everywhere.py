"""An assistant that is watched in all public channels that the app is in: with one share, one limit
a day and one standing, and exceptions.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from bot.domain.watch import Watch
from bot.features.watch import ids
from bot.features.watch.everywhere import follow_orders
from bot.features.watch.news import tell_low
from bot.features.watch.watcher import Watcher
from bot.store.schema import cases, watches
from tests.features.watch.test_standings import drop, look, worth
from tests.features.watch.test_watch_window import filled, grown, its, submit
from tests.features.watch.watching import end, orders, say, told, write_low
from tests.stage import CHANNEL, Stage, StageFactory, shown
from tests.watches import only


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    """The stage with another public channel, and a private one."""
    opened: Stage = await open_stage()
    workspace = opened.slack.workspace
    members = [workspace.user(name) for name in ("ann", "helper")]
    workspace.add_channel("sales", [*members, workspace.bot])
    workspace.add_channel("board", [*members, workspace.bot], is_private=True)
    return opened


def channel_id(stage: Stage, name: str) -> str:
    return stage.slack.workspace.channel(name).id


async def follow(stage: Stage) -> None:
    """The app's next turn."""
    await follow_orders(Watcher(stage.services_at(timedelta())))


async def watched(stage: Stage) -> dict[str, Watch]:
    """The watches by the names of their channels."""
    channels = stage.slack.workspace.channels.values()
    names = {channel.id: channel.name for channel in channels}
    watches = await stage.log.watches.of(stage.slack.workspace.team_id)
    return {names[watch.channel_id]: watch for watch in watches}


async def shares(stage: Stage) -> dict[str, float]:
    return {name: watch.share for name, watch in (await watched(stage)).items()}


async def the_order(stage: Stage) -> Watch:
    (order,) = await orders(stage).everywhere(stage.slack.workspace.team_id)
    return order


async def test_all_public_channels_are_watched_and_later_ones_too(stage: Stage) -> None:
    said = await say(stage, "@helper everywhere 1 in 5 20 a day")
    assert "in all public channels that I am in, 2 channels at present, and in those" in said
    workspace = stage.slack.workspace
    workspace.add_channel("later", [workspace.user("ann"), workspace.bot])
    await follow(stage)
    assert await shares(stage) == {CHANNEL: 0.2, "sales": 0.2, "later": 0.2}
    workspace.channel("sales").is_private = True
    await say(stage, "@helper everywhere all")
    await follow(stage)
    assert await shares(stage) == {CHANNEL: 1, "later": 1}


async def test_a_channels_own_watch_goes_before_and_an_ended_one_stays_ended(stage: Stage) -> None:
    await say(stage, "@helper all 7 a day")
    await say(stage, "@helper everywhere 1 in 5")
    assert await shares(stage) == {CHANNEL: 1, "sales": 0.2}
    assert "In all other public channels it is." in await end(stage, "helper")
    await follow(stage)
    assert (await watched(stage)).keys() == {"sales"}
    await say(stage, "@helper everywhere")
    await follow(stage)
    assert (await watched(stage)).keys() == {CHANNEL, "sales"}
    # What follows from the order ends by an exception.
    assert "End it here alone?" in await say(stage, "off @helper")
    await confirm(stage, "longer watched here")
    await follow(stage)
    assert (await watched(stage)).keys() == {"sales"}
    assert "in all public channels (1 at present)" in await say(stage, "off @helper everywhere")
    await confirm(stage, "longer watched in all")
    assert await watched(stage) == {}
    said = await say(stage, "off @helper everywhere")
    assert said.startswith("`@helper` is not watched in all public channels. ")


async def confirm(stage: Stage, said: str) -> None:
    stage.ann.click(stage.ann.ephemerals(CHANNEL)[-1], ids.ACTION_WATCH_OFF)
    await stage.slack.until(lambda: said in stage.ann.ephemerals(CHANNEL)[-1].text)


async def test_a_change_in_a_channel_makes_its_watch_its_own(stage: Stage) -> None:
    await say(stage, "@helper everywhere 1 in 5")
    await say(stage, "@helper 1 in 2")
    await follow(stage)
    assert await shares(stage) == {CHANNEL: 0.5, "sales": 0.2}


async def test_the_window_shows_the_order_and_changes_it(stage: Stage) -> None:
    await say(stage, "@helper everywhere 1 in 5")
    hears = (stage.ann.id, channel_id(stage, "sales"))
    order = replace(await the_order(stage), alerts_to=hears)
    await orders(stage).save(order, stage.ann.id)
    assert "*helper*, as in all public channels: " in await say(stage, "")
    stage.ann.click(stage.ann.ephemerals(CHANNEL)[-1], ids.ACTION_WATCH)
    assert f"public channels that I am in. Set by <@{stage.ann.id}>." in await filled(stage, "Set")
    stage.ann.click(stage.ann.view, its(ids.BLOCK_SHARE, stage.helper.id), "2")
    await filled(stage, "a random 1 in 2")
    await grown(stage)
    await submit(stage)
    await stage.told(stage.ann, 3)
    changed = await the_order(stage)
    assert (changed.share, set(changed.alerts_to)) == (0.5, set(hears))


async def spread(stage: Stage, words: str) -> None:
    """Turns the one watch into an order, and moves half of its scores."""
    watch = await only(stage)
    half = update(cases).where(cases.c.id % 2 == 0)
    await stage.log.database.execute(half.values(channel_id=channel_id(stage, "sales")))
    await orders(stage).end(watch, stage.ann.id)
    await say(stage, f"@helper everywhere all {words}")


async def test_without_slacks_word_or_with_an_older_list_nothing_ends(stage: Stage) -> None:
    await say(stage, "@helper everywhere all")
    services = stage.services_at(timedelta())
    await services.memberships.of()
    workspace = stage.slack.workspace
    workspace.add_channel("later", [workspace.user("ann"), workspace.bot])
    await follow(stage)
    await follow(stage)
    await follow_orders(Watcher(services))
    stage.slack.fail("users.conversations", error="internal_error")
    await follow_orders(Watcher(services))
    assert (await watched(stage)).keys() == {CHANNEL, "sales", "later"}


async def test_each_hears_once_of_all_channels_and_asking_costs_one_day(stage: Stage) -> None:
    """Also the private channel in which the alert was asked for, without any reply."""
    stage.model.script(worth())
    await say(stage, "@helper all alert me")
    await drop(stage)
    await spread(stage, "41 a day alert me")
    board = channel_id(stage, "board")
    order = replace(await the_order(stage), alerts_to=(stage.ann.id, board))
    await orders(stage).save(order, stage.ann.id)
    await follow(stage)
    await look(stage)
    (alert,) = told(stage)
    assert alert.text.startswith("helper has become worse: 2.5 since ")
    assert len(stage.model.requests) == 41
    (on_board,) = stage.slack.workspace.channel("board").messages.values()
    assert on_board.text == alert.text
    assert "Score 2 of 5" in shown(alert)
    assert "Score 2 of 5" not in shown(on_board)


async def test_low_replies_are_told_of_the_channels_that_the_reader_is_in(stage: Stage) -> None:
    await say(stage, "@helper all alert me")
    await write_low(stage, 2, score=0)
    await spread(stage, "alert me alert low")
    ago = datetime.now(UTC) - timedelta(days=1)
    await stage.log.database.execute(update(watches).values(low_since=ago))
    stage.ann.leave("sales")
    await tell_low(stage.services)
    (low,) = told(stage)
    assert low.text == f"helper got 0 of 5 for a reply in <#{channel_id(stage, CHANNEL)}>"
