"""The window of `/judge watch` opens at once, sets all that a watch is, and ends it."""

import asyncio
from dataclasses import replace
from typing import Any

from bot.domain.watch import PER_DAY, Shows
from bot.features.watch import ids, text
from bot.features.watch.text import NOT_WATCHED, changed_by, ended, ended_by
from bot.features.watch.window_text import (
    NOT_SHOWN_YET,
    kept_out,
    off_floor,
)
from bot.slack import ids as slack_ids
from bot.slack.invocation import Raw
from judge.scoring.rubric import Scale
from pocket_slack import Message
from tests.features.watch.watching import add_other, end, orders, say, told
from tests.stage import CHANNEL, Stage, StageFactory, manifest_without, shown
from tests.watches import only


def its(block_id: str, author_id: str) -> str:
    return slack_ids.of(block_id, author_id)


def fields(stage: Stage, **values: Any) -> dict[str, Any]:
    """What is entered for helper, by the names of the fields."""
    return {its(name, stage.helper.id): value for name, value in values.items()}


async def submit(stage: Stage, **values: Any) -> Raw:
    """What Slack is answered when ann submits the window with these values for helper."""
    delivery = await stage.slack.settled(stage.ann.submit(fields(stage, **values)))
    return delivery.response or {}


async def filled(stage: Stage, text: str = "") -> str:
    """What the window says once it is filled, and nothing is being read any more."""
    view = await stage.slack.until(lambda: stage.ann.view)
    assert view is not None
    await stage.slack.until(lambda: "_Reading" not in shown(view) and text in shown(view))
    return shown(view)


def shown_fields(stage: Stage) -> set[str]:
    view = stage.ann.view
    assert view is not None
    return {block["block_id"] for block in view.body["blocks"]}


async def window(stage: Stage, text: str = "@helper") -> str:
    """What the window says once it shows all of its fields, or why it shows none."""
    stage.ann.command(CHANNEL, slack_ids.COMMAND, f"watch {text}")
    said = await filled(stage)
    return await grown(stage) if ids.BLOCK_ASSISTANT in shown_fields(stage) else said


async def grown(stage: Stage) -> str:
    stage.ann.click(stage.ann.view, ids.ACTION_WATCH_MORE)
    return await filled(stage, "Most scored replies a day")


def updates(stage: Stage) -> int:
    """How often the window was filled."""
    return sum(
        entry.data["method"] == "views.update" for entry in stage.slack.workspace.journal.of("call")
    )


async def test_a_name_alone_opens_the_window_and_it_sets_all_that_a_watch_is(stage: Stage) -> None:
    before = len(stage.slack.workspace.journal.of("call"))
    await window(stage)
    opened = stage.slack.workspace.journal.of("call")[before]
    assert opened.data["method"] == "views.open"  # before anything is read
    stage.ann.click(stage.ann.view, its(ids.BLOCK_SHARE, stage.helper.id), "5")
    await filled(stage)
    people = [stage.ben.id, stage.ann.id]
    usual = {"per_day": "40", "shows": "reaction", "floor": "3.5"}
    await submit(stage, **usual, alerts_here=["here"], alerts_to=people)
    said = await stage.told(stage.ann)
    watch = await only(stage)
    assert (watch.author_id, watch.share, watch.per_day) == (stage.helper.id, 0.2, 40)
    assert (watch.shows, watch.floor) == (Shows.REACTION, 3.5)
    assert watch.alerts_to == (watch.channel_id, *people)
    assert said.text.startswith(text.begun(watch, "helper", watch.channel_id).text)


async def test_another_assistant_shows_its_watch_before_it_can_be_changed(stage: Stage) -> None:
    other = add_other(stage)
    await say(stage, "@other 1 in 5 7 a day alert here")
    earlier = await only(stage)
    await window(stage)
    stage.ann.fill(fields(stage, per_day="40"))
    gate = asyncio.Event()
    stage.slack.fail("conversations.history", held_until=gate)
    stage.ann.click(stage.ann.view, ids.BLOCK_ASSISTANT, other.id)
    refused = await submit(stage)
    assert refused["errors"][ids.BLOCK_ASSISTANT] == NOT_SHOWN_YET
    gate.set()
    await stage.slack.until(lambda: its(ids.BLOCK_SHARE, other.id) in shown_fields(stage))
    await submit(stage)
    await stage.told(stage.ann, 2)
    assert await only(stage) == earlier


async def test_reactions_without_their_scope_are_refused_at_it(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(manifest=manifest_without("reactions:write"))
    await window(stage)
    refused = await submit(stage, shows="reaction")
    assert refused["errors"] == fields(stage, shows=text.NO_REACTIONS.replace("`", ""))


async def test_who_has_lost_the_right_meanwhile_sets_ends_and_sends_nothing(stage: Stage) -> None:
    await say(stage, "@helper all alert here")
    listed = stage.ann.ephemerals(CHANNEL)[-1]
    earlier = await only(stage)
    await window(stage)
    ending = stage.ann.view
    stage.ann.user.is_guest = True
    stage.ann.click(listed, ids.ACTION_TEST_ALERT)
    assert "Guests cannot" in (await stage.told(stage.ann, 2)).text
    stage.ann.click(ending, ids.ACTION_WATCH_END)
    await filled(stage, "Guests cannot")
    stage.ann.close()
    stage.ann.user.is_guest = False
    await window(stage)
    stage.ann.user.is_guest = True
    assert "Guests cannot" in str(await submit(stage, per_day="3"))
    assert await only(stage) == earlier
    assert stage.ours() == []


async def test_where_nothing_may_be_scored_nothing_is_watched(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(channels_allowed="C99")
    assert "Scoring is switched off" in await window(stage)
    assert "Scoring is switched off" in await say(stage, "@helper all")


async def test_an_assistant_that_left_can_still_be_changed(stage: Stage) -> None:
    await say(stage, "@helper 1 in 3")
    stage.ann.remove(CHANNEL, "helper")
    stage.ann.click(await state_of(stage, 2), ids.ACTION_WATCH)
    await filled(stage, "Replies to score")
    await grown(stage)
    await submit(stage, per_day="3")
    await stage.told(stage.ann, 3)
    assert ((await only(stage)).share, (await only(stage)).per_day) == (1 / 3, 3)


async def test_trouble_with_slack_while_the_window_fills_is_said(stage: Stage) -> None:
    stage.slack.fail("conversations.history", error="missing_scope")
    assert text.not_read("missing_scope") in await window(stage)
    stage.ann.close()
    stage.slack.fail("views.update", status=503)
    stage.ann.command(CHANNEL, slack_ids.COMMAND, "watch @helper")
    assert "Something went wrong. Please try again" in (await stage.told(stage.ann)).text


async def state_of(stage: Stage, count: int = 1) -> Message:
    stage.ann.command(CHANNEL, slack_ids.COMMAND, "watch")
    return await stage.told(stage.ann, count)


async def test_another_assistant_begins_with_one_that_is_not_watched_yet(stage: Stage) -> None:
    other = add_other(stage)
    await say(stage, "@helper all")
    state = await state_of(stage, 2)
    stage.ann.click(state, ids.ACTION_WATCH, block_id=state.blocks[-1]["block_id"])
    await filled(stage)
    await submit(stage)
    await stage.told(stage.ann, 3)
    found = await stage.log.watches.of(stage.slack.workspace.team_id)
    (new,) = [watch for watch in found if watch.author_id == other.id]
    assert (new.share, new.per_day, new.alerts_to) == (1.0, PER_DAY, (stage.ann.id,))


async def test_a_test_goes_to_exactly_those_who_would_hear(stage: Stage) -> None:
    stage.slack.workspace.channel(CHANNEL).is_private = True
    await window(stage)
    await submit(stage, alerts_to=[stage.ben.id, stage.ann.id], alerts_here=["here"])
    said = await stage.told(stage.ann)
    stage.ben.leave(CHANNEL)
    stage.ann.click(said, ids.ACTION_TEST_ALERT)
    watch = await only(stage)
    errors = dict.fromkeys(watch.alerts_to, "") | {stage.ben.id: "not_in_channel"}
    assert (await stage.told(stage.ann, 2)).text == text.tested(watch, errors)
    assert len(stage.ours()) == len(told(stage)) == 1
    assert told(stage, stage.ben) == []


async def test_what_is_wrong_is_told_at_its_field(stage: Stage) -> None:
    stage.slack.workspace.channel(CHANNEL).is_private = True
    eve = stage.slack.workspace.add_user("eve").id
    await window(stage)
    at_floor = fields(stage, floor=off_floor(Scale(0, 5)))
    for typed in ("5", "nan"):
        assert (await submit(stage, floor=typed))["errors"] == at_floor
    for other, name in ((eve, "eve"), ("U0GONE", "U0GONE")):
        refused = await submit(stage, floor="", alerts_to=[stage.ben.id, other])
        assert refused["errors"] == fields(stage, alerts_to=kept_out([name]))
    assert await stage.log.watches.of(stage.slack.workspace.team_id) == []


async def test_the_buttons_channel_is_believed_no_more_than_a_typed_one(stage: Stage) -> None:
    await say(stage, "@helper all")
    stage.ann.leave(CHANNEL)
    stage.ann.click(stage.ann.ephemerals(CHANNEL)[-1], ids.ACTION_WATCH)
    assert "End this watch" not in await filled(stage, "Only people in this channel")
    assert len(await stage.log.watches.of(stage.slack.workspace.team_id)) == 1


async def test_an_end_that_the_window_cannot_tell_of_is_told_in_the_channel(stage: Stage) -> None:
    await say(stage, "@helper all")
    await window(stage)
    stage.slack.fail("views.update", error="not_found")  # it was closed
    stage.ann.click(stage.ann.view, ids.ACTION_WATCH_END)
    assert (await stage.told(stage.ann, 2)).text == text.ended("helper")


async def test_who_gets_alerts_and_who_set_it_hear_who_changed_a_watch_and_who_ended_it(
    stage: Stage,
) -> None:
    await say(stage, "@helper all alert here")
    stage.slack.workspace.add_user("cleo")
    stage.ann.invite(CHANNEL, "cleo")
    cleo = stage.slack.person("cleo")
    watch = await only(stage)
    watch = replace(watch, alerts_to=(watch.channel_id, stage.ann.id, cleo.id))
    await orders(stage).save(watch, stage.ben.id)
    assert await end(stage, "helper") == ended("helper")
    of_end = ended_by(watch, "helper", stage.ann.id).text
    assert [message.text for message in stage.ours()] == [of_end]
    for person in (stage.ben, cleo):
        assert [message.text for message in told(stage, person)] == [of_end]
    await orders(stage).save(watch, stage.ben.id)
    await say(stage, "@helper alert off")
    of_change = changed_by(await only(stage), "helper", stage.ann.id).text
    assert [message.text for message in told(stage, cleo)] == [of_end, of_change]
    assert told(stage, stage.ann) == []


async def test_two_presses_end_a_watch_once(stage: Stage) -> None:
    await say(stage, "@helper all alert here")
    await say(stage, "off @helper")
    asked = stage.ann.ephemerals(CHANNEL)[-1]
    for _ in range(2):
        stage.ann.click(asked, ids.ACTION_WATCH_OFF)
    await stage.slack.until(lambda: stage.ann.ephemerals(CHANNEL)[-1].text == NOT_WATCHED)
    await stage.slack.until(stage.ours)
    assert len(stage.ours()) == 1


async def test_the_watch_that_the_window_shows_is_the_one_that_ends(stage: Stage) -> None:
    other = add_other(stage)
    await say(stage, "@helper all")
    await say(stage, "@other all")
    await window(stage)
    stage.ann.click(stage.ann.view, ids.BLOCK_ASSISTANT, other.id)
    await filled(stage, "Replies of other will no longer be scored")
    stage.ann.click(stage.ann.view, ids.ACTION_WATCH_END)
    assert ended("other") in await filled(stage, "no longer watched")
    assert (await only(stage)).author_id == stage.helper.id
