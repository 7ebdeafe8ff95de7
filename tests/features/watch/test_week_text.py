"""The watched assistants of a channel's digest: what is read of them, and how it is said (see
`__snapshots__`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import insert
from syrupy.assertion import SnapshotAssertion

from bot.domain.case import CaseSource
from bot.domain.standing import Standing, Whose
from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.watch import Coverage, ReplyOutcome
from bot.domain.week import Schedule
from bot.feature import Feature
from bot.features.watch.figures import (
    AssistantDetails,
    AssistantWeek,
    Volume,
    read_assistants,
    read_details,
    worst_first,
)
from bot.features.watch.queries import Release, WatchOrders
from bot.features.watch.week_text import (
    MOST_RELEASES,
    detail_block,
    releases_in,
    week_blocks,
    week_lines,
)
from bot.figures.quality import Agreement
from bot.figures.week import Point
from bot.slack.members import Member
from bot.store import Store
from bot.store.figures import Place
from bot.store.schema import cases, labels
from bot.store.standings import Standings
from judge.evaluation.standing import Direction, Event
from judge.evaluation.stats import wilson
from tests.cases import NOW, WEEK, a_row
from tests.features.watch.watching import WATCH, see
from tests.texts import read

MEMBERS = {"B1": Member("helper", True), "B2": Member("drafter", True)}


def standing(**changes: Any) -> Standing:
    fields: dict[str, Any] = {
        "team_id": "T1",
        "channel_id": "",
        "author_id": "B1",
        "lowest": 0,
        "highest": 5,
        "version": "m, v",
        "direction": Direction.STEADY,
        "event": None,
        "stored_at": NOW,
        "looked_at": NOW,
        "level": 3.9,
        "level_low": 3.7,
        "level_high": 4.1,
        "n": 104,
    }
    return Standing(**(fields | changes))


LOWER = standing(
    author_id="B2",
    direction=Direction.LOWER,
    event=Event.BEGAN,
    level=1.6,
    level_low=1.3,
    level_high=1.9,
    n=38,
    before=3.5,
    since=date(2026, 11, 12),
    step=-1.9,
    whose=Whose.ASSISTANT,
    asked=60,
    judge_step=0.0,
    judge_low=-0.1,
    judge_high=0.1,
    questions="Length, askers and follow-ups are alike; difficulty is not compared.",
)


def volume(scored: int, askers: int = 0, /, **outcomes: int) -> Volume:
    coverage = Coverage({ReplyOutcome(name): number for name, number in outcomes.items()})
    return Volume(coverage, scored, askers, {None: scored})


def a_week(author_id: str = "B1", **changes: Any) -> AssistantWeek:
    fields: dict[str, Any] = {
        "author_id": author_id,
        "standing": standing(),
        "channels": 1,
        "this": volume(24, 9, taken=24),
        "before": volume(20, 8, taken=20),
    }
    return AssistantWeek(**(fields | changes))


WEEKS: Mapping[str, Sequence[AssistantWeek]] = {
    "of two": [
        a_week("B2", standing=LOWER, this=volume(22, 9, taken=22, missed=2)),
        a_week(channels=3),
    ],
    "before the first look": [
        a_week(standing=None, this=volume(0), before=volume(0)),
        a_week("B2", standing=standing(direction=Direction.TOO_FEW, n=3)),
    ],
    "of a share": [a_week(this=volume(7, 3, taken=7, passed=16, over=1, broke_off=2))],
    "of no model": [
        a_week(this=replace(volume(5, 2, taken=5), raters={OFFLINE: 2, MADE_UP: 3})),
        a_week("B2", this=replace(volume(5, 2, taken=5), raters={None: 5})),
    ],
    "of nobody to be named": [a_week("U9")],
}


@pytest.mark.parametrize("which", WEEKS)
def test_a_week_reads_as_in_the_snapshot(which: str, snapshot: SnapshotAssertion) -> None:
    assert read(week_blocks(WEEKS[which], MEMBERS, WEEK)) == snapshot


def test_the_details_name_the_assistant_its_weeks_and_its_releases() -> None:
    trend = [Point(WEEK.before(), 3.1), Point(WEEK, 3.4)]
    starts = [WEEK.before(number).start for number in range(1, 20)]
    marked = [
        Release(number, "T1", "", "B1", "U1", at, at.date(), "")
        for number, at in enumerate(starts, 1)
    ]
    found = releases_in(marked, WEEK)
    assert [release.id for release in found] == list(range(1, 8))
    block = detail_block(a_week(), "helper", AssistantDetails(None, trend), found, WEEK)
    assert block
    said = read([block])
    assert said.startswith(
        "*helper*, on a scale from 0 to 5\nMean of each week, from its first day:"
    )
    assert said.count("release ") == MOST_RELEASES


def test_what_got_lower_by_most_is_first_then_the_lowest_level() -> None:
    further = replace(LOWER, step=-2.5, level=3.0)
    order = [further, LOWER, standing(level=2.0), standing(level=4.0), None]
    mixed = [order[number] for number in (3, 1, 4, 0, 2)]
    assert sorted(mixed, key=worst_first) == order


def services(log: Store, now: datetime = NOW) -> Any:
    async def standing_line(*_: object) -> str:
        return "What came of its questions."

    features = [Feature(standing_line=standing_line)]
    return SimpleNamespace(store=log, clock=lambda: now, features=features)


def drawn(score: int | None, at: datetime, **changes: Any) -> dict[str, Any]:
    """The case of a reply that a watch drew."""
    its = {"key": f"{at}", "author_id": "B1", "message_ts": f"{at.timestamp():.6f}"}
    its |= {"probability": 1.0, "source": CaseSource.WATCH}
    verdict = {"model": "m", "judge_version": "m, additive-5 1", "score": score}
    return a_row(**its | verdict | {"created_at": at, "judged_at": at} | changes)


async def add(log: Store, row: dict[str, Any]) -> None:
    await log.database.execute(insert(cases).values(row))


@pytest.mark.on("sqlite", "postgres")
async def test_a_week_has_the_stored_standing_and_counts_its_own_seven_days(log: Store) -> None:
    zone = "America/Los_Angeles"
    week = Schedule.parse("monday", "0:00", zone).current(datetime(2026, 11, 11, tzinfo=UTC))
    watch = replace(WATCH, author_id="B1", since=week.start, is_private=False)
    for channel_id in ("C1", "C2"):
        await WatchOrders(log.database).save(replace(watch, channel_id=channel_id), "U1")
    second = timedelta(seconds=1)
    moments = [week.start - second, week.start, week.end - second, week.end]
    for number, at in enumerate(moments):
        await see(log, watch, at, ReplyOutcome.TAKEN)
        await add(log, drawn(3, at, question_author_id=f"U{number}"))
    await see(log, watch, week.start + second, ReplyOutcome.MISSED)
    await add(log, drawn(None, week.start + second, unscored_reason="no_score"))
    await Standings(log.database).begin(standing(looked_at=week.end, stored_at=week.end))
    (found,) = await read_assistants(services(log, week.end), Place("T1", "C1"), week)
    assert (found.standing and found.standing.level, found.channels) == (3.9, 2)
    assert found.lines == ["What came of its questions."]
    assert found.this == Volume(found.this.coverage, 2, 2, {None: 2})
    assert (found.this.coverage.seen, found.before.coverage.seen) == (3, 1)
    assert found.before.scored == found.before.askers == 1
    for place in (Place("T1", "C3"), Place("T1", "C1", "B2")):
        assert await read_assistants(services(log), place, week) == []


@pytest.mark.on("sqlite", "postgres")
async def test_scores_of_a_watch_that_has_ended_stay_in_their_week(log: Store) -> None:
    for number, score in enumerate((2, 2, 3, 3, 5)):
        await add(log, drawn(score, WEEK.start + timedelta(hours=number)))
    place = Place("T1", "C1")
    (ended,) = await read_assistants(services(log, WEEK.end), place, WEEK)
    assert week_lines(ended, "helper", "week")[:2] == [
        "*helper*: mean 3.0, by 5 scores",
        "It is no longer watched here.",
    ]
    assert await read_assistants(services(log), replace(place, author_id="B2"), WEEK) == []


@pytest.mark.on("sqlite")
async def test_details_have_peoples_scores_of_four_weeks_and_weekly_means(log: Store) -> None:
    """The judge gives 3 to all, people 2."""
    times = {"created_at": NOW, "updated_at": NOW}
    given = {"team_id": "T1", "channel_id": "C1", "user_id": "U9", "is_blind": True} | times
    for number in range(30):
        at = WEEK.start + timedelta(days=1, minutes=number)
        await add(log, drawn(3, at))
        label = {"case_id": number + 1, "score": 2} | given
        await log.database.execute(insert(labels).values(label))
        await add(log, drawn(5, at - timedelta(weeks=5)))
    found = await read_details(services(log), Place("T1", "C1", "B1"), WEEK)
    assert found.quality is not None
    assert found.quality.mean.corrected is not None
    # Half of the labels are of replies long ago, which the judge gives 5.
    assert found.blind == Agreement(30, wilson(15, 30))
    block = detail_block(a_week(), "helper", found, [], WEEK)
    assert "Judge within one point of people's labels, blind labels: 50%, between" in str(block)
    assert (found.quality.mean.n, found.quality.mean.corrected.mean) == (30, pytest.approx(2))
    assert [point.mean for point in found.trend] == [None, None, 5, None, None, None, None, 3]
