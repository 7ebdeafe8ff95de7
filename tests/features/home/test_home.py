"""The Home tab: what a person finds there, what they can press, and what they must not see."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text

from bot.app import make_services
from bot.domain.case import CaseSource, CaseStatus, Visibility
from bot.domain.clock import utc_now
from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.week import Schedule
from bot.features.home.handlers import ACTION_HOME_JUDGE, ACTION_HOME_VISIBILITY
from bot.slack import ids as slack_ids
from bot.slack.client import SlackClient, identify
from bot.slack.invocation import Invocation
from bot.store import Store
from bot.store.channels import ChannelSettings
from pocket_slack import Channel, View
from tests.cases import add
from tests.gestures import add_case, add_cases, help_desk, home, press, private
from tests.stage import (
    ANSWER,
    CHANNEL,
    QUESTION,
    Stage,
    StageFactory,
    is_verdict,
    make_settings,
    shown,
)

NO_CHANNELS = "Nothing was scored in your channels in the last two weeks."
UNSURE = "Slack does not tell me which channels you are in"


def block_of(view: View, channel: Channel) -> dict[str, Any] | None:
    """A channel's block in the tab."""
    found = [
        block for block in view.body["blocks"] if block.get("block_id") == f"channel-{channel.id}"
    ]
    return found[0] if found else None


async def settings(stage: Stage, channel: Channel) -> ChannelSettings:
    return await stage.log.channels.of(stage.slack.workspace.team_id, channel.id)


@pytest.mark.needs("digest")
async def test_a_first_visit_says_how_to_begin(stage: Stage) -> None:
    words = shown(await home(stage))
    assert "choose *Score this reply*" in words
    assert "You have not asked for a score yet" in words
    assert NO_CHANNELS in words


async def test_a_reply_is_quoted_no_more_once_the_person_has_left_its_channel(stage: Stage) -> None:
    await add_case(
        stage, help_desk(stage), stage.helper.id, 4, requester_id=stage.ann.id, response=ANSWER
    )
    assert ANSWER in shown(await home(stage))
    stage.ann.leave(CHANNEL)
    view = await home(stage)
    assert ANSWER not in shown(view)
    assert "Score 4 of 5" in shown(view)


async def test_a_case_that_waits_for_its_question_is_listed_for_a_day(stage: Stage) -> None:
    now = datetime.now(UTC)
    asked = {"status": CaseStatus.ASKED, "judged_at": None, "requester_id": stage.ann.id}
    for score, hours in ((1, 23), (2, 25)):
        at = now - timedelta(hours=hours)
        await add_case(stage, help_desk(stage), stage.helper.id, score, **asked, created_at=at)
    await add_case(
        stage,
        help_desk(stage),
        stage.helper.id,
        4,
        requester_id=stage.ann.id,
        created_at=now - timedelta(days=2),
    )
    words = shown(await home(stage))
    assert [f"case {number}" in words for number in (1, 2, 3)] == [True, False, True]
    assert words.count("`/judge forget 1` deletes it") == words.count(" deletes it") == 1


async def test_older_cases_are_listed_by_the_command(stage: Stage) -> None:
    for score in range(6):
        await add_case(stage, help_desk(stage), stage.helper.id, score, requester_id=stage.ann.id)
    words = shown(await home(stage))
    assert words.count("· case ") == 5
    assert "/judge recent" in words


@pytest.mark.needs("digest")
async def test_a_channel_is_shown_with_its_week_and_its_trend(stage: Stage) -> None:
    channel = help_desk(stage)
    for weeks, score in ((0, 5), (1, 3), (3, 0)):
        at = datetime.now(UTC) - timedelta(weeks=weeks)
        await add_cases(stage, channel, stage.helper.id, *[score] * 30, judged_at=at)
    block = block_of(await home(stage), channel)
    assert block is not None
    monday = Schedule.parse("monday", "09:00", "UTC").latest(datetime.now(UTC)).end
    means = [
        (monday - timedelta(weeks=back), mean) for back, mean in ((3, 0.0), (1, 3.0), (0, 5.0))
    ]
    assert block["text"]["text"].replace("\xa0", " ").splitlines() == [
        f"*<#{channel.id}>*: 30 replies chosen by people",
        "Mean *5.0* on a scale of 0 to 5. Scored 0 to 2: *0%*. Scored 4 to 5: *100%*.",
        f"Weekly mean: {' · '.join(f'{week.day} {week:%b}: {mean}' for week, mean in means)}",
        "No weekly digest.",
    ]


@pytest.mark.needs("digest")
async def test_a_channel_with_scores_by_no_model_or_another_judge_says_so(stage: Stage) -> None:
    marks = {
        "made up": [MADE_UP],
        "partly made up, partly offline rater": [OFFLINE, MADE_UP],
        "": ["gpt-5", None],
    }
    channels = {}
    for mark, models in marks.items():
        channels[mark] = stage.slack.workspace.add_channel(
            f"c{len(channels)}", [stage.ann.user, stage.slack.workspace.bot]
        )
        for number, model in enumerate(models):
            await add_case(
                stage, channels[mark], stage.helper.id, 3, model=model, message_ts=f"{number}.1"
            )
    await add_case(stage, channels[""], stage.helper.id, 3, judge_version="another")
    view = await home(stage)
    for mark, channel in channels.items():
        block = block_of(view, channel)
        assert block is not None
        assert block["text"]["text"].startswith(
            f"*<#{channel.id}>*{f' ({mark})' if mark else ''}: "
        )
    assert "scored by another judge: 1" in shown(view)


@pytest.mark.needs("digest")
async def test_a_channel_that_the_person_or_the_bot_is_not_in_is_not_shown(stage: Stage) -> None:
    leads = private(stage, "ben")
    alone = stage.slack.workspace.add_channel("alone", [stage.ann.user], is_private=True)
    for channel in (leads, alone):
        await add_case(stage, channel, stage.helper.id, 1)
    await stage.log.channels.save(stage.slack.workspace.team_id, leads.id, "U1", is_digest_on=True)
    words = str((await home(stage)).body)
    assert [channel.id in words for channel in (leads, alone)] == [False, False]
    assert block_of(await home(stage, stage.ben), leads) is not None


@pytest.mark.needs("digest")
async def test_the_persons_cases_are_shown_if_slack_does_not_list_their_channels(
    stage: Stage,
) -> None:
    await add_case(stage, help_desk(stage), stage.helper.id, 4, requester_id=stage.ann.id)
    stage.slack.fail("users.conversations", error="missing_scope")
    view = await home(stage)
    assert UNSURE in shown(view)
    assert block_of(view, help_desk(stage)) is None
    assert "Score 4 of 5" in shown(view)


@pytest.mark.needs("digest")
async def test_the_digest_is_switched_on_and_off_in_the_tab(stage: Stage) -> None:
    from bot.features.digest.ids import ACTION_DIGEST_OFF, ACTION_DIGEST_ON

    channel = help_desk(stage)
    await add_case(stage, channel, stage.helper.id, 4)
    view = await press(stage, await home(stage), ACTION_DIGEST_ON, block_id=f"channel-{channel.id}")
    assert (await settings(stage, channel)).is_digest_on
    block = block_of(view, channel)
    assert block is not None
    assert block["text"]["text"].endswith("Digest every Monday at 09:00 (UTC).")
    view = await press(stage, view, ACTION_DIGEST_OFF, block_id=f"channel-{channel.id}")
    assert not (await settings(stage, channel)).is_digest_on
    assert "No weekly digest." in shown(view)


@pytest.mark.needs("digest")
async def test_a_button_with_another_channel_in_it_changes_nothing(
    stage: Stage,
) -> None:
    from bot.features.digest.ids import ACTION_DIGEST_ON

    leads = private(stage, "ben")
    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    view = await home(stage)
    block = block_of(view, help_desk(stage))
    assert block is not None
    block["accessory"]["value"] = leads.id
    view = await press(stage, view, ACTION_DIGEST_ON, block_id=block["block_id"])
    assert "Only people in this channel" in shown(view)
    for channel in (leads, help_desk(stage)):
        assert not (await settings(stage, channel)).is_digest_on


@pytest.mark.needs("digest")
async def test_only_admins_have_the_button_where_only_they_may_change_it(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(digest_by="admins")
    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    block = block_of(await home(stage), help_desk(stage))
    assert block is not None
    assert "accessory" not in block


@pytest.mark.needs("digest")
async def test_a_public_channel_without_the_bot_has_no_button(stage: Stage) -> None:
    workspace = stage.slack.workspace
    public = workspace.add_channel("public", [workspace.user("ann")])
    await add_case(stage, public, stage.helper.id, 4)
    block = block_of(await home(stage), public)
    assert block is not None
    assert "accessory" not in block


async def test_a_person_chooses_who_sees_their_verdicts(stage: Stage) -> None:
    whose = (stage.slack.workspace.team_id, stage.ann.id)
    view = await home(stage)
    for value, kept in (("me", Visibility.ME), ("thread", Visibility.THREAD), ("workspace", None)):
        view = await press(stage, view, ACTION_HOME_VISIBILITY, value)
        assert await stage.log.channels.visibility(*whose) is kept
        menus = [
            b["accessory"]
            for b in view.body["blocks"]
            if b.get("accessory", {}).get("type") == "static_select"
        ]
        assert [each["initial_option"]["value"] for each in menus] == [value]


async def test_judge_something_scores_in_ones_own_messages(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    stage.ann.click(await home(stage), ACTION_HOME_JUDGE)
    view = await stage.modal(stage.ann)
    assert slack_ids.BLOCK_VISIBILITY not in [block["block_id"] for block in view.body["blocks"]]
    stage.ann.submit({slack_ids.BLOCK_QUESTION: QUESTION, slack_ids.BLOCK_RESPONSE: ANSWER})
    im = stage.ann.im
    await stage.slack.until(
        lambda: [
            m for p in stage.ann.messages(im) for m in stage.ann.thread(im, p.ts) if is_verdict(m)
        ]
    )
    assert stage.ours() == []
    assert "direct messages" in shown(await home(stage))


@pytest.mark.on("sqlite")
async def test_it_goes_through_no_more_than_the_figures_of_the_persons_channels(
    stage: Stage, log: Store, tmp_path: Path
) -> None:
    workspace = stage.slack.workspace
    team_id = stage.slack.workspace.team_id
    ann = stage.ann.id
    for number in range(5):  # with two, SQLite chooses well by itself
        channel = workspace.add_channel(f"c{number}", [workspace.user("ann"), workspace.bot])
        await add(log, at=utc_now(), team_id=team_id, channel_id=channel.id)
    asked: list[tuple[str, Any]] = []
    listened = log.database.engine.sync_engine, "before_cursor_execute"
    event.listen(*listened, lambda *call: asked.append((call[2], call[3])))
    client = SlackClient(None, stage.slack.api_url, stage.slack.bot_token)
    services = make_services(
        make_settings(stage.slack, stage.model, tmp_path), log, client, await identify(client)
    )
    await services.show_home(
        Invocation(team_id, "D1", ann, ann, is_foreign=False, window_channel_id="D1")
    )
    reads = [each for each in asked if " cases" in each[0]]
    assert reads
    narrow = ("channel_id=?", "requester_id=?", "rowid=?")
    async with log.database.engine.connect() as connection:
        for statement, values in reads:
            plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            for step in [
                row[3]
                for row in plan.all()
                if re.match("S[A-Z]+ (cases|found|same|newer|older)", row[3])
            ]:
                assert any(part in step for part in narrow), step
                # Of the cases of some weeks only an index is read: their rows are long.
                assert "judged_at>" not in step or re.search(
                    "ix_cases_(figures|watched|repeated)", step
                ), f"{step}\n{statement}"


@pytest.mark.needs("digest")
async def test_people_who_open_it_within_a_minute_share_the_counting(
    stage: Stage, tmp_path: Path
) -> None:
    from bot.features.digest.handlers import ChannelsAtHome

    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    counted: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "anon_1.unscored_reason" in statement:
            counted.append(statement)

    event.listen(stage.log.database.engine.sync_engine, "before_cursor_execute", note)
    client = SlackClient(None, stage.slack.api_url, stage.slack.bot_token)
    settings = make_settings(stage.slack, stage.model, tmp_path)
    now = utc_now()
    services = make_services(settings, stage.log, client, await identify(client), clock=lambda: now)
    memberships = services.memberships
    at_home = ChannelsAtHome(services)
    team_id = stage.slack.workspace.team_id
    await asyncio.gather(
        *(memberships.of(person.id) for person in (stage.ann, stage.ben)), memberships.of()
    )
    found = await asyncio.gather(
        *(at_home.blocks(team_id, person.id) for person in (stage.ann, stage.ben) * 5)
    )
    assert ["1 reply chosen by people" in str(blocks) for blocks in found] == [True] * 10
    now += timedelta(seconds=59)
    await at_home.blocks(team_id, stage.ben.id)
    assert len(counted) == 1
    await add_case(stage, help_desk(stage), stage.helper.id, 4)
    now += timedelta(seconds=1)
    assert "2 replies chosen by people" in str(await at_home.blocks(team_id, stage.ben.id))
    assert len(counted) == 2


async def test_the_tab_says_that_the_database_cannot_be_read(stage: Stage) -> None:
    async with stage.log.database.engine.begin() as connection:
        await connection.execute(text("ALTER TABLE people RENAME TO elsewhere"))
    assert "I cannot read the database right now" in shown(await home(stage))


async def test_a_tab_that_slack_refuses_is_published_the_next_time(stage: Stage) -> None:
    stage.slack.fail("views.publish", error="internal_error")
    stage.ann.open_home()
    await stage.slack.until(lambda: calls(stage, "views.publish"))
    assert stage.ann.home is None
    assert "You have not asked" in shown(await home(stage))


def calls(stage: Stage, method: str) -> int:
    return len(
        [
            entry
            for entry in stage.slack.workspace.journal.of("call")
            if entry.data["method"] == method
        ]
    )


async def test_opening_the_messages_beside_it_publishes_nothing(stage: Stage) -> None:
    await home(stage)
    (opened,) = [
        e.data["payload"]
        for e in stage.slack.workspace.journal.of("envelope")
        if e.data["type"] == "events_api"
    ]
    changes = {
        "event": opened["event"] | {"tab": "messages", "user": stage.ben.id},
        "event_id": "Ev0",
    }
    await stage.slack.settled(stage.slack.workspace.deliveries.send("events_api", opened | changes))
    for _ in range(2):
        await home(stage)
    assert stage.ben.home is None


@pytest.mark.needs("digest")
async def test_of_twenty_channels_ten_are_shown(stage: Stage) -> None:
    workspace = stage.slack.workspace
    for number in range(20):
        channel = workspace.add_channel(
            f"{'x' * 70}{number}", [workspace.user("ann"), workspace.bot]
        )
        await add_case(stage, channel, stage.helper.id, 4)
    view = await home(stage)
    assert shown(view).count("1 reply chosen by people") == 10
    assert "And 10 more: type `/judge stats` there." in shown(view)


@pytest.mark.needs("digest")
async def test_a_channel_with_a_digest_is_shown_before_anything_was_scored(stage: Stage) -> None:
    channel = help_desk(stage)
    await stage.log.channels.save(
        stage.slack.workspace.team_id, channel.id, "U1", is_digest_on=True
    )
    block = block_of(await home(stage), channel)
    assert block is not None
    assert ": nothing has a score yet this week\n" in block["text"]["text"]


@pytest.mark.needs("digest")
async def test_a_channel_where_people_chose_none_shows_the_watched_replies(stage: Stage) -> None:
    channel = help_desk(stage)
    await stage.log.channels.save(
        stage.slack.workspace.team_id, channel.id, "U1", is_digest_on=True
    )
    for number in range(5):
        its = {"source": CaseSource.WATCH, "probability": 0.2, "message_ts": f"{number}.1"}
        await add_case(stage, channel, stage.helper.id, 4, **its)
    block = block_of(await home(stage), channel)
    assert block is not None
    assert ": 5 watched replies, none chosen by people\nMean *4.0*" in block["text"]["text"]
