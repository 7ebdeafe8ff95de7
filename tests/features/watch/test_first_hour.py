"""The first hour: from the invitation to the first figures, as the person who invites the app sees
it.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from bot.features.watch import ids
from bot.features.watch.assistants import replies_a_day
from bot.features.watch.news import FIRST, tell_first
from bot.features.watch.notices import tell_once
from bot.features.watch.standings import StandingLooks
from bot.features.watch.way import Way
from bot.features.watch.window_text import price_a_day
from bot.slack import ids as slack_ids
from bot.slack.messenger import to_post
from bot.store.notices import Notices, day_of
from bot.store.schema import watches
from pocket_slack import Delivery, Message, Person, channels
from tests.features.watch.test_watch_window import filled, grown, submit, updates
from tests.features.watch.watching import WATCH, add_other, say, told, until_noon, write_scores
from tests.stage import CHANNEL, Stage, StageFactory, buttons, shown
from tests.watches import only

SOON = timedelta(minutes=6)  # a claim that was not kept is over by then
BUTTONS = [ids.ACTION_WATCH]


async def invite(stage: Stage, person: Person | None = None) -> Delivery:
    """The event of a person who invites the app into the channel, once it is acknowledged."""
    return await stage.slack.settled(invited(stage, person or stage.ann))


def invited(stage: Stage, person: Person) -> Delivery:
    workspace = stage.slack.workspace
    members = workspace.channel(CHANNEL).members
    if workspace.bot.id in members:
        members.remove(workspace.bot.id)
    person.invite(CHANNEL, workspace.bot.id)
    return newest_join(stage)


def newest_join(stage: Stage) -> Delivery:
    latest = stage.slack.workspace.deliveries.latest()
    return [each for each in latest if "member_joined_channel" in str(each.payload)][-1]


async def welcomed(stage: Stage) -> Message:
    await invite(stage)
    (message,) = told(stage)
    return message


async def test_each_who_invites_the_app_is_told_once_what_it_can_do_there(stage: Stage) -> None:
    stage.ask_and_answer()
    delivery = await invite(stage)
    stage.slack.workspace.deliveries.redeliver(delivery)
    await invite(stage)
    await invite(stage, stage.ben)
    assert len(told(stage, stage.ben)) == 1
    (message,) = told(stage)
    words = shown(message)
    assert "Assistants there: `@helper`." in words
    assert "go, without names, to 127.0.0.1. Texts are dropped after 90 days" in words
    assert "A watch on helper: up to 1 score a day at last week's pace." in words
    assert buttons(message) == BUTTONS
    assert [*stage.ours(), *stage.ann.ephemerals(CHANNEL)] == []


async def test_what_slack_could_not_answer_is_told_at_the_next_delivery(stage: Stage) -> None:
    stage.slack.fail("conversations.history", status=503)
    delivery = invited(stage, stage.ann)
    calls = stage.slack.workspace.journal.of
    await stage.slack.until(lambda: any(each.data.get("status") == 503 for each in calls("call")))
    stage.slack.workspace.deliveries.redeliver(delivery)
    await stage.slack.settled(delivery)
    assert [buttons(each) for each in told(stage)] == [BUTTONS]


async def test_nobody_else_is_told_and_no_other_company(stage: Stage) -> None:
    workspace = stage.slack.workspace
    channel = workspace.channel(CHANNEL)
    channel.members.remove(workspace.bot.id)
    channels.join(workspace, channel, workspace.bot)  # invited by nobody
    await stage.slack.settled(newest_join(stage))
    assert told(stage) == []
    channel.shared_with = "T9"
    stage.ben.user.team_id = "T9"
    await invite(stage, stage.ben)
    await invite(stage)
    assert (len(told(stage)), told(stage, stage.ben)) == (1, [])


async def test_who_may_set_no_watch_gets_a_line_without_buttons(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(watch_by_admins=True)
    message = await welcomed(stage)
    refusal = "Only workspace admins can change watches here (setting WATCH_BY_ADMINS)."
    assert refusal in shown(message)
    assert buttons(message) == []
    assert refusal in await say(stage, "@helper all")
    stage.ben.user.is_admin = True
    await invite(stage, stage.ben)
    assert buttons(told(stage, stage.ben)[0]) == BUTTONS


@pytest.mark.parametrize(
    ("method", "error", "messages"),
    [("conversations.history", "missing_scope", 1), ("chat.postMessage", "channel_not_found", 0)],
)
async def test_trouble_is_a_line_without_buttons_or_silence(
    stage: Stage, method: str, error: str, messages: int
) -> None:
    stage.slack.fail(method, error=error)
    await invite(stage)
    assert [buttons(each) for each in told(stage)] == [[]] * messages
    assert all(error in shown(each) for each in told(stage))


@pytest.mark.needs("digest")
async def test_one_window_sets_the_watch_whose_price_was_told_and_the_digest(stage: Stage) -> None:
    for _ in range(2):
        question, _ = stage.ask_and_answer()
    add_other(stage).post(CHANNEL, "Another answer.", thread_ts=question.ts)
    message = await welcomed(stage)
    assert "A watch on helper: up to 2 scores a day" in shown(message)
    stage.ann.click(message, ids.ACTION_WATCH)
    assert "Up to 2 scores a day at last week's pace" in await filled(stage, "Replies to score")
    await submit(stage)
    said = (await stage.told(stage.ann, channel=stage.ann.im)).text
    here = stage.slack.workspace.channel(CHANNEL).id
    assert f"The first figures come after 20 scores. The digest is on in <#{here}>" in said
    assert (await only(stage)).alerts_to == (stage.ann.id,)
    assert await stage.log.channels.wanted(stage.slack.workspace.team_id)


async def test_what_was_chosen_stays_when_the_window_grows(stage: Stage) -> None:
    stage.ann.command(CHANNEL, slack_ids.COMMAND, "watch @helper")
    await filled(stage, "Replies to score")
    stage.ann.fill({ids.BLOCK_ALSO: []})
    before = updates(stage)
    stage.ann.click(stage.ann.view, slack_ids.of(ids.BLOCK_SHARE, stage.helper.id), "5")
    await stage.slack.until(lambda: updates(stage) > before)
    await grown(stage)
    await submit(stage, per_day="7")
    await stage.told(stage.ann)
    watch = await only(stage)
    assert (watch.share, watch.per_day, watch.alerts_to) == (0.2, 7, (stage.ann.id,))
    assert await stage.log.channels.wanted(stage.slack.workspace.team_id) == []


async def look_at_standings(stage: Stage, later: timedelta) -> None:
    await StandingLooks(stage.services_at(later)).look()


async def begun(stage: Stage, alert: str, number: int) -> None:
    """A watch since yesterday, with so many scores."""
    await say(stage, f"@helper all alert {alert}")
    earlier = (await only(stage)).since - timedelta(days=1)
    await stage.log.database.execute(update(watches).values(since=earlier))
    await write_scores(stage, [(2 / 24, 4, number - 1), (1 / 24, 1, 1)])


@pytest.mark.parametrize("alert", ["off", "here"])
async def test_after_twenty_scores_first_figures_are_told_once(stage: Stage, alert: str) -> None:
    await begun(stage, alert, FIRST - 1)
    await look_at_standings(stage, timedelta())
    await write_scores(stage, [(0, 4, 1)], "m, additive-5 1")
    await tell_first(stage.services)
    assert [*told(stage), *stage.ours()] == []
    noon = until_noon()
    await look_at_standings(stage, noon)
    for later in (timedelta(), SOON, timedelta(days=20)):
        await tell_first(stage.services_at(noon + later))
    (message,) = stage.ours() if alert == "here" else told(stage)
    words = shown(message)
    assert "*helper* has too few scores yet to say whether it changes: 3.9\nThe mean of" in words


@pytest.mark.parametrize(("alert", "number"), [("me", 0), ("here", 1)])
async def test_what_a_process_died_over_is_sought_in_a_channel_not_guessed(
    stage: Stage, alert: str, number: int
) -> None:
    await say(stage, f"@helper all alert {alert}")
    watch = await only(stage)
    claim = watch.alerts_to[0], day_of(watch.since), datetime.now(UTC)
    assert await Notices(stage.log.database).claim(watch, "news", *claim)
    for later in (timedelta(), SOON, SOON):
        await tell_once(stage.services_at(later), watch, "news", to_post("News"))
    assert len([*told(stage), *stage.ours()]) == number


def test_replies_a_day_are_counted_by_threads() -> None:
    now = datetime(2026, 11, 23, tzinfo=UTC)

    def thread(days: float, newest: float, count: int, *authors: str) -> dict[str, Any]:
        """A thread that began and was last answered so many days ago."""
        begun, ended = (f"{(now - timedelta(days=ago)).timestamp():.6f}" for ago in (days, newest))
        by = {"reply_users": authors, "reply_users_count": len(authors)}
        return {"ts": begun, "latest_reply": ended, "reply_count": count, **by}

    alone = thread(1, 1, 3, "U1")
    turns = thread(3.5, 2, 6, "U1", "U9")
    top = {"ts": thread(2, 2, 0)["ts"], "bot_id": "B2", "user": "U2"}
    assert replies_a_day([alone, turns, top], now) == {"U1": 6 / 3.5, "U9": 3 / 3.5, "U2": 1 / 3.5}
    assert replies_a_day([thread(9, 8, 5, "U1"), alone], now) == {"U1": 3 / 7}
    assert replies_a_day([], now) == {}


@pytest.mark.parametrize(
    ("a_day", "way", "said"),
    [
        (0, Way("m", None, 1), "It wrote nothing in the last week, so I cannot estimate"),
        (35.2, Way("m"), "Up to 36 scores a day at last week's pace. What they cost is not"),
        (0.4, Way("m", None, 0), "Up to 1 score a day at last week's pace, at no cost."),
        (99, Way("m", None, 0.0001), "Up to 50 scores a day at last week's pace: less than $0.01"),
        (36, Way("m", None, 0.002, is_guess=True), "about $0.07 a day at list price without think"),
    ],
)
def test_a_price_is_said_with_what_it_is_for(a_day: float, way: Way, said: str) -> None:
    assert said in price_a_day(WATCH, a_day, way)
