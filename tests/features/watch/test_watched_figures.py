"""What stats and digests say of watched replies besides their mean: who scored them, and what is not in it."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import insert

from bot.domain.case import CaseSource
from bot.domain.verdict import OFFLINE
from bot.domain.watch import ReplyOutcome, Watch
from bot.domain.week import Week
from bot.features.watch.figures import read_watched
from bot.features.watch.reply_queries import Replies, SeenReply
from bot.store import Store
from bot.store.figures import Place
from bot.store.schema import cases
from tests.cases import a_row
from tests.gestures import add_case, help_desk, stats
from tests.stage import Stage, shown


async def add_drawn(stage: Stage, score: int | None, **changes: object) -> None:
    """A verdict of a moment ago on a reply that a watch has drawn."""
    drawn = {"source": CaseSource.WATCH, "probability": 1.0, "model": "m", "judge_version": "m, additive-5 1"}
    await add_case(stage, help_desk(stage), stage.helper.id, score, **(drawn | changes))


async def settled(stage: Stage, reply: SeenReply, watch: Watch, outcome: ReplyOutcome) -> None:
    """Notes what has become of a reply, which is at rest only later: the app's own watcher leaves it alone."""
    await Replies(stage.log.database).note(reply, watch, datetime.now(UTC) + timedelta(hours=1))
    await Replies(stage.log.database).settle(reply, outcome)


@pytest.mark.needs("digest")
@pytest.mark.parametrize("subject", ["", "@helper"])
async def test_the_offline_rater_and_what_was_not_read_are_named_beside_the_mean_of_random_replies(
    stage: Stage, subject: str
) -> None:
    await add_drawn(stage, 4, model=OFFLINE)
    for score in (3, 3, 3, 3):
        await add_drawn(stage, score, unread="1 picture")
    said = shown(await stats(stage, subject))
    assert "*helper*, random replies: mean *3.2*" in said
    assert ":warning: 1 of 5 cases scored by the offline rater, which is not a judge." in said
    assert "4 of 5 replies had something that was not read." in said


@pytest.mark.needs("digest")
@pytest.mark.parametrize(("drawn", "deleted", "doubts"), [(10, 1, False), (9, 2, True)])
async def test_drawn_replies_that_were_deleted_are_said_and_many_make_the_mean_doubtful(
    stage: Stage, drawn: int, deleted: int, doubts: bool
) -> None:
    week = Week.of(datetime.now(UTC), ZoneInfo("UTC"))
    watch = Watch(stage.slack.workspace.team_id, help_desk(stage).id, stage.helper.id, week.start)
    for number in range(drawn):
        ts = f"{week.start.timestamp() + number:.6f}"
        reply = SeenReply(watch.team_id, watch.channel_id, ts, watch.author_id, None, None)
        await settled(stage, reply, watch, ReplyOutcome.DELETED if number < deleted else ReplyOutcome.TAKEN)
    await add_drawn(stage, 4)
    said = shown(await stats(stage))
    assert f"Drawn, but deleted before scoring: {deleted}." in said
    assert "offline rater" not in said
    assert ("do not trust this mean" in said) == doubts


@pytest.mark.needs("digest")
async def test_what_another_judge_or_scale_scored_is_counted_and_in_no_mean(stage: Stage) -> None:
    for score in (4, 3, 4, 4, 4):
        await add_drawn(stage, score)
    await add_drawn(stage, 0, judge_version="other, additive-5 1")
    await add_drawn(stage, 9, lowest=1, highest=10)
    said = shown(await stats(stage))
    assert "*helper*, random replies: mean *3.8*" in said
    assert "Not counted above, because another judge or another scale was used: 2." in said


@pytest.mark.needs("digest")
async def test_of_few_scores_neither_a_mean_nor_a_change_is_said(stage: Stage) -> None:
    earlier = datetime.now(UTC) - timedelta(weeks=1)
    for number in range(4):
        await add_drawn(stage, 4)
        await add_drawn(stage, 3, judged_at=earlier, created_at=earlier, key=f"earlier {number}")
    assert "random replies: fewer than 5 scores, so no mean (4 of 4 scored)." in shown(await stats(stage))
    await add_drawn(stage, 4)
    assert "(5 of 5 scored).\n" in shown(await stats(stage, count=2))
    await add_drawn(stage, 3, judged_at=earlier, created_at=earlier, key="earlier 5")
    said = "1.0 higher than the same days of last week (between 0.4 and 1.6 higher)."  # 3 / 5 to each side: all alike
    assert f"(5 of 5 scored). {said}\nScored 0 to 2: *0%*, between" in shown(await stats(stage, count=3))


@pytest.mark.needs("digest")
async def test_replies_of_last_week_that_were_scored_in_this_one_are_among_those_that_were_seen(stage: Stage) -> None:
    channel, week = help_desk(stage), Week.of(datetime.now(UTC), ZoneInfo("UTC"))
    watch = Watch(stage.slack.workspace.team_id, channel.id, stage.helper.id, week.before().start)
    for number, (age, outcome) in enumerate(
        [(0, ReplyOutcome.TAKEN), (1, ReplyOutcome.TAKEN), (2, ReplyOutcome.TAKEN), (3, ReplyOutcome.MISSED)]
    ):
        ts = f"{(week.start - timedelta(hours=age)).timestamp():.6f}"
        reply = SeenReply(watch.team_id, channel.id, ts, watch.author_id, None, None)
        await settled(stage, reply, watch, outcome)
        if outcome is ReplyOutcome.TAKEN:
            await add_drawn(stage, number, message_ts=ts, judged_at=week.start)
    assert "(3 of 3 scored)" in shown(await stats(stage))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Los_Angeles"])
async def test_a_finished_week_counts_its_own_seven_days(log: Store, zone: str) -> None:
    week = Week(2026, 46, ZoneInfo(zone))
    watch = Watch("T1", "C1", "B1", week.start)
    for at in (week.start.timestamp() - 1, week.start.timestamp(), week.end.timestamp() - 1, week.end.timestamp()):
        await Replies(log.database).note(SeenReply("T1", "C1", f"{at:.6f}", "B1", None, None), watch, week.end)
    its = {"message_ts": f"{week.start.timestamp() - 1:.6f}", "author_id": "B1", "probability": 1.0}
    late = a_row(key="late", score=3, created_at=week.start, judged_at=week.start, **its)
    async with log.database.engine.begin() as connection:
        await connection.execute(insert(cases).values(late))
    (watched,) = await read_watched(log.tallies, Replies(log.database), Place("T1", "C1"), week, week.end)
    assert (watched.coverage.seen, watched.earlier) == (2, 1)


@pytest.mark.needs("digest")
async def test_random_replies_have_bars_shares_and_a_trend_of_their_own_before_those_that_people_chose(
    stage: Stage,
) -> None:
    earlier = datetime.now(UTC) - timedelta(weeks=1)
    for score in (0, 2, 4, 4, 5):
        await add_drawn(stage, score)
        await add_drawn(stage, 3, judged_at=earlier, key=f"earlier {score} {datetime.now(UTC)}")
        await add_case(stage, help_desk(stage), stage.helper.id, 1)
    blocks = (await stats(stage)).blocks
    bars, trend = (block["chart"]["series"][0]["data"] for block in blocks if block["type"] == "data_visualization")
    assert [point["value"] for point in bars] == [1, 0, 1, 0, 2, 1]
    assert [point["value"] for point in trend] == [3, 3]
    said = [block["text"]["text"] for block in blocks if block["type"] == "section"]
    assert "*helper*, random replies: mean *3.0*, between 1.0 and 4.5" in said[1]
    assert "No clear change from the same days of last week.\nScored 0 to 2: *40%*, " in said[1]
    assert "Scored 4 to 5: *60%*, " in said[1]
    assert said[2].startswith("*5 replies chosen by people*")
    assert said[3].startswith("*Chosen replies by score*\n```")
