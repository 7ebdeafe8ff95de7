"""A watch that is set is changed in its window, and ended there by whoever may change it."""

from dataclasses import replace

from bot.features.watch import ids
from bot.features.watch.text import NOT_WATCHED, changed_by, ended, ended_by
from bot.features.watch.window_text import CHANGED_MEANWHILE
from bot.store.audit import Action
from tests.features.watch.test_watch_window import filled, window
from tests.features.watch.watching import add_other, end, only, orders, say, told
from tests.stage import CHANNEL, Stage


async def watches(stage: Stage) -> list[str]:
    return [each.author_id for each in await stage.log.watches.of(stage.slack.workspace.team_id)]


async def test_who_gets_alerts_and_who_set_the_watch_hear_who_ended_it(stage: Stage) -> None:
    await say(stage, "@helper all alert here")
    watch = await only(stage)
    stage.slack.workspace.add_user("cleo")
    cleo = stage.slack.person("cleo")
    stage.ann.invite(CHANNEL, "cleo")
    await orders(stage).save(replace(watch, alerts_to=(*watch.alerts_to, cleo.id)), stage.ben.id)
    assert await end(stage, "helper") == ended("helper")
    for messages in (stage.ours()[-1:], told(stage, stage.ben), told(stage, cleo)):
        (message,) = messages
        assert message.text == ended_by(watch, "helper", stage.ann.id).text
    assert told(stage, stage.ann) == []


async def test_who_gets_alerts_of_a_watch_is_told_who_changed_it(stage: Stage) -> None:
    await say(stage, "@helper all")
    both = replace(await only(stage), alerts_to=(stage.ann.id, stage.ben.id))
    await orders(stage).save(both, stage.ben.id)
    await say(stage, "@helper alert off")
    (message,) = told(stage, stage.ben)
    assert message.text == changed_by(await only(stage), "helper", stage.ann.id).text
    assert told(stage, stage.ann) == []


async def test_two_presses_end_a_watch_once(stage: Stage) -> None:
    await say(stage, "@helper all alert here")
    assert "End the watch on" in await say(stage, "off @helper")
    asked = stage.ann.ephemerals(CHANNEL)[-1]
    for _ in range(2):
        stage.ann.click(asked, ids.ACTION_WATCH_OFF)
    await stage.slack.until(lambda: stage.ann.ephemerals(CHANNEL)[-1].text == NOT_WATCHED)
    await stage.slack.until(stage.ours)
    assert len(stage.ours()) == 1
    assert [act.what for act in await stage.log.audit.since()] == [
        Action.WATCH_SET,
        Action.WATCH_ENDED,
    ]


async def test_the_watch_that_the_window_shows_is_the_one_that_ends(stage: Stage) -> None:
    add_other(stage)
    await say(stage, "@helper all")
    await say(stage, "@other all")
    await window(stage)
    stage.ann.click(stage.ann.view, ids.BLOCK_ASSISTANT, stage.slack.person("other").id)
    await filled(stage, "Replies of other will no longer be scored")
    stage.ann.click(stage.ann.view, ids.ACTION_WATCH_END)
    assert ended("other") in await filled(stage, "no longer watched")
    assert await watches(stage) == [stage.helper.id]


async def test_a_window_on_a_watch_that_somebody_ended_does_not_begin_it_anew(stage: Stage) -> None:
    await say(stage, "@helper all")
    await window(stage)
    await orders(stage).end(await only(stage), stage.ben.id)
    delivery = await stage.slack.settled(stage.ann.submit())
    assert delivery.response is not None
    assert delivery.response["errors"][ids.BLOCK_ASSISTANT] == CHANGED_MEANWHILE
    assert await watches(stage) == []
