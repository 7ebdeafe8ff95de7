"""The figures, counted by the database, against the same counted in plain Python; and what must be
in none of them.
"""

import itertools
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import floor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from bot.domain.case import CaseStatus, Exclusion, Visibility
from bot.domain.clock import utc_week
from bot.domain.week import Week
from bot.figures.quality import Agreement
from bot.figures.week import (
    FEWEST,
    Chosen,
    Details,
    read_chosen,
    read_details,
)
from bot.store import Store
from bot.store.figures import Place, Span, Usage
from bot.store.schema import cases, labels
from bot.store.visibility import Origin
from judge.evaluation.severity import Severities
from judge.evaluation.stats import MeanEstimator, low_to, wilson
from judge.scoring.rubric import Scale
from tests.cases import NOW, WEEK, a_row

pytestmark = pytest.mark.on("sqlite")

MOMENT = timedelta(microseconds=1)
THIS_WEEK = Span(WEEK.start, WEEK.end)
TEAMS = (f"T{number}" for number in itertools.count())


OWN = "own"
"""Instead of a ts: a message that no other entry is about."""


@dataclass(frozen=True)
class Entry:
    """A case in the store, with what the figures depend on."""

    channel: str = "C1"
    judged_at: datetime | None = WEEK.start + timedelta(days=2)
    score: int | None = 4
    scale: tuple[int, int] = (0, 5)
    reason: str = "no_score"
    author: str | None = "B1"
    requester: str = "U1"
    message_ts: str | None = OWN
    thread_ts: str | None = None
    attempt: int = 1
    visibility: Visibility = Visibility.THREAD
    blocker: str | None = None
    blocked_by: str | None = None
    excluded: Exclusion | None = None
    tokens: int | None = 100
    cost: float | None = 0.5
    model: str = "m"
    version: str | None = None
    labels: tuple[int, ...] = field(default=())
    probability: float | None = None  # of the draw; with one, the labels are blind

    @property
    def reply(self) -> str | None:
        """What was scored; None if no other entry is about it."""
        return None if self.message_ts in {None, OWN} else self.message_ts

    @property
    def is_public(self) -> bool:
        is_shown = (
            self.visibility is Visibility.THREAD
            and self.blocker is None
            and self.blocked_by is None
        )
        return is_shown and self.message_ts is not None


async def write(log: Store, team: str, entries: Sequence[Entry], **changes: Any) -> None:
    async with log.database.engine.begin() as connection:
        for number, entry in enumerate(entries):
            row = _row(team, number, entry) | changes
            (case_id,) = (await connection.execute(insert(cases).values(row))).inserted_primary_key
            for person, score in enumerate(entry.labels):
                label = {"case_id": case_id, "user_id": f"U{person}", "score": score}
                label |= {"team_id": team, "channel_id": entry.channel}
                label |= {"created_at": NOW, "updated_at": NOW, "probability": entry.probability}
                label["is_blind"] = entry.probability is not None
                await connection.execute(insert(labels).values(label))


def _row(team: str, number: int, entry: Entry) -> dict[str, Any]:
    row = a_row(**{name: vars(entry)[name] for name in vars(entry).keys() & cases.c.keys()})
    lowest, highest = entry.scale
    row |= {
        "team_id": team,
        "key": str(number),
        "channel_id": entry.channel,
        "requester_id": entry.requester,
        "author_id": entry.author,
        "probability": None,
        "lowest": lowest,
        "highest": highest,
        "input_tokens": entry.tokens,
        "output_tokens": entry.tokens,
        "cost_usd": entry.cost,
        "created_at": NOW,
    }
    if entry.message_ts == OWN:
        row["message_ts"] = f"1795000000.{number:06}"
    if entry.judged_at is None:
        return row | {"status": CaseStatus.RECEIVED, "score": None}
    if entry.score is None:
        return row | {"unscored_reason": entry.reason}
    return row | {"judge_version": entry.version}


async def figures_of(
    log: Store, *entries: Entry, now: datetime = NOW, team: str | None = None
) -> tuple[Chosen, Details]:
    """The figures of channel C1 in a log that holds these entries and nothing else of their team."""
    team = team or next(TEAMS)
    await write(log, team, entries)
    return await read(log, Place(team, "C1"), now)


async def read(log: Store, place: Place, now: datetime = NOW) -> tuple[Chosen, Details]:
    chosen = await read_chosen(log.tallies, place, WEEK, now)
    return chosen, await read_details(log.tallies, place, chosen)


def counted(entries: Sequence[Entry], week: Week, since: datetime | None = None) -> list[Entry]:
    """In plain Python: what everybody in C1 could see of a week, of several verdicts on a reply the
    newest.
    """
    since = since or week.start
    here = [each for each in entries if each.channel == "C1" and each.is_public and each.judged_at]
    found = []
    for number, entry in enumerate(here):
        newer = [
            each for each in here[number + 1 :] if each.attempt > 1 and each.reply == entry.reply
        ]
        is_repeated = entry.reply is not None and bool(newer)
        if not is_repeated and entry.judged_at and since <= entry.judged_at < week.end:
            found.append(entry)
    return found


EDGES = [
    WEEK.start,
    WEEK.start - MOMENT,
    WEEK.end,
    WEEK.end - MOMENT,
    WEEK.before().start,
    WEEK.before(7).start,
]
scales = st.sampled_from([(0, 5)] * 5 + [(1, 10)])
entries_of_a_log = st.lists(
    st.builds(
        Entry,
        channel=st.sampled_from(["C1", "C1", "C1", "C2"]),
        judged_at=st.sampled_from(
            [*EDGES, WEEK.start + timedelta(days=1), WEEK.before(3).start, None]
        ),
        score=st.sampled_from([None, 1, 2, 3, 4, 5]),
        scale=scales,
        reason=st.sampled_from(["no_score", "DeadlineError", "refused"]),
        author=st.sampled_from([None, "U1", "B1", "B2"]),
        requester=st.sampled_from(["U1", "U2", "U3"]),
        visibility=st.sampled_from([Visibility.THREAD] * 4 + [Visibility.ME]),
        blocker=st.sampled_from([None] * 5 + ["nothing"]),
        blocked_by=st.sampled_from([None] * 5 + ["not_in_channel"]),
        model=st.sampled_from(["m", "offline"]),
        version=st.sampled_from([None, "v1", "v1", "v2"]),
        tokens=st.sampled_from([None, 10, 300]),
        cost=st.sampled_from([None, 0.25, 2.0]),
        labels=st.lists(st.integers(0, 5), max_size=3).map(tuple),
        probability=st.sampled_from([None, 0.5, 1.0]),
    ),
    max_size=25,
)
repeats = st.lists(
    st.tuples(
        st.sampled_from([None, OWN, "1.1", "2.2"]),
        st.sampled_from([None, "1.1", "3.3"]),
        st.sampled_from([1, 1, 2]),
    ),
    min_size=25,
    max_size=25,
)


@pytest.mark.on("sqlite", "postgres")
@pytest.mark.slow
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(entries=entries_of_a_log, places=repeats)
async def test_the_figures_are_those_of_plain_python(
    log: Store, entries: list[Entry], places: list[tuple[str | None, str | None, int]]
) -> None:
    # A reply is judged again only after it was judged before.
    entries = sorted(entries, key=lambda each: each.judged_at or NOW)
    entries = [
        replace(entry, message_ts=ts, thread_ts=thread_ts, attempt=attempt)
        for entry, (ts, thread_ts, attempt) in zip(entries, places, strict=False)
    ]
    chosen, details = await figures_of(log, *entries)
    four_weeks = [each for back in range(4) for each in counted(entries, WEEK.before(back))]
    this = counted(entries, WEEK)
    scale = chosen.scale
    version = chosen.kind.version
    of_scale = [each for each in four_weeks if each.score is not None and each.scale == scale]
    assert version == commonest(of_scale)
    of_kind = [each for each in of_scale if each.version == version]
    scores = [each.score for each in of_kind if each.score is not None]
    assert chosen.level.counts == Counter(scores)
    assert chosen.level.mean == mean_of(scores)
    scored = [each for each in this if each.score is not None]
    on_scale = [each for each in scored if (each.scale, each.version) == (scale, version)]
    assert chosen.this.counts == Counter(each.score for each in on_scale)
    assert chosen.otherwise == len(scored) - len(on_scale)
    assert chosen.unscored == Counter(each.reason for each in this if each.score is None)
    assert chosen.raters == Counter(
        "offline" if each.model == "offline" else None for each in on_scale
    )
    _check_usage(details, this)
    _check_trend(chosen, details, entries)
    _check_authors(chosen, on_scale)
    ever = [
        e for e in counted(entries, WEEK, datetime(2000, 1, 1, tzinfo=UTC)) if e.score is not None
    ]
    of_kind = [each for each in ever if (each.scale, each.version) == (scale, version)]
    assert details.blind == _agreement([each for each in of_kind if each.probability is not None])
    assert details.seen == _agreement([each for each in of_kind if each.probability is None])
    _check_quality(chosen, details, entries)


def mean_of(scores: Sequence[int]) -> Any:
    """Their mean, and none of so few that it would tell the score of one."""
    return pytest.approx(statistics.fmean(scores)) if len(scores) >= FEWEST else None


def commonest(entries: Sequence[Entry]) -> str | None:
    """The judge version of most of them; of equals the last by name."""
    counts = Counter(each.version for each in entries)
    return max(counts, key=lambda version: (counts[version], version or ""), default=None)


def _check_usage(details: Details, this: list[Entry]) -> None:
    tokens = [2 * each.tokens for each in this if each.tokens is not None]
    costs = [each.cost for each in this if each.cost is not None]
    assert details.usage == Usage(len(this), sum(tokens), len(tokens), sum(costs), len(costs))


def _check_trend(chosen: Chosen, details: Details, entries: Sequence[Entry]) -> None:
    weeks = [*(WEEK.before(back) for back in range(7, 0, -1)), WEEK]
    assert [point.week for point in details.trend] == weeks
    kind = (*chosen.scale, chosen.kind.version)
    for point in details.trend:
        here = [each for each in counted(entries, point.week) if each.score is not None]
        found = [each.score for each in here if (*each.scale, each.version) == kind]
        assert point.mean == mean_of(found)


def _check_authors(chosen: Chosen, on_scale: list[Entry]) -> None:
    expected = Counter(each.author for each in on_scale if each.author is not None)
    assert {author.id: author.this.n for author in chosen.authors} == expected
    assert [author.this.n for author in chosen.authors] == sorted(expected.values(), reverse=True)


def _check_quality(chosen: Chosen, details: Details, entries: Sequence[Entry]) -> None:
    recent = [each for back in range(4) for each in counted(entries, WEEK.before(back))]
    kind = (*chosen.scale, chosen.kind.version)
    scored = [
        each for each in recent if each.score is not None and (*each.scale, each.version) == kind
    ]
    if not scored:
        assert details.quality is None
        return
    of_week = Counter(utc_week(each.judged_at) for each in scored)
    blind = [each for each in scored if each.labels and each.probability is not None]
    labelled = Counter(utc_week(each.judged_at) for each in blind)
    given = [
        [(f"U{by}", float(it)) for by, it in enumerate(each.labels)] if each in blind else []
        for each in scored
    ]
    mean = MeanEstimator(Scale(*chosen.scale), Severities(filter(None, given)))
    for each, own in zip(scored, given, strict=True):
        share = labelled[utc_week(each.judged_at)] / of_week[utc_week(each.judged_at)] or 1
        mean.add(each.score or 0, given=own, probability=share, cluster=each.thread_ts)
    expected = mean.estimate()
    found = details.quality.mean
    assert (found.n, found.labelled) == (expected.n, expected.labelled)
    assert found.judge == pytest.approx(expected.judge)
    assert found.corrected == (
        None if expected.corrected is None else pytest.approx(expected.corrected)
    )


def _agreement(labelled: list[Entry]) -> Agreement | None:
    pairs = [(e.score or 0, floor(statistics.fmean(e.labels) + 0.5)) for e in labelled if e.labels]
    if not pairs:
        return None
    near = sum(abs(score - label) <= 1 for score, label in pairs)
    return Agreement(len(pairs), wilson(near, len(pairs)))


async def test_the_week_so_far_ends_now(log: Store) -> None:
    now = WEEK.start + timedelta(days=1)
    entries = Entry(judged_at=now - MOMENT), Entry(judged_at=now + MOMENT)
    chosen, _ = await figures_of(log, *entries, now=now)
    assert (chosen.this.n, chosen.until) == (1, now)


async def test_what_not_everybody_could_see_changes_no_figure(log: Store) -> None:
    hidden = [
        Entry(visibility=Visibility.ME),
        Entry(blocker="That message contains only an image."),
        Entry(blocked_by="not_in_channel"),
        Entry(channel="C2"),
        Entry(message_ts=None),
        Entry(excluded=Exclusion.PERSON),
    ]
    shown = [Entry(score=3, labels=(3,)), Entry(score=5), Entry(judged_at=WEEK.before().start)]
    alone = await figures_of(log, *shown)
    for each in hidden:
        secret = replace(each, score=0, author="B9", requester="U9", labels=(1, 1))
        weeks = (WEEK, WEEK.before(), WEEK.before(5))
        secrets = [replace(secret, judged_at=week.start) for week in weeks]
        secrets.append(replace(secrets[0], score=None))
        assert await figures_of(log, *shown, *secrets) == alone, each


async def test_how_low_replies_begin_is_read_unless_they_are_gone_or_to_be_forgotten(
    log: Store,
) -> None:
    team = next(TEAMS)
    words = {"response": "Words" * 100, "justification": "Why. " * 100}
    for number, gone in enumerate(({}, {"deleted_at": NOW}, {"forgotten_at": NOW})):
        row = _row(team, number, Entry(score=0)) | words | gone
        await log.database.execute(insert(cases).values(row))
    place = Place(team, "C1")
    lowest = await log.tallies.low(place, THIS_WEEK, 3, False, ["B1"])
    read = [(case.response, case.reason) for case in lowest]
    assert read == [("Words" * 60, "Why. " * 60), (None, None), (None, None)]
    case_ids = [case.id for case in lowest]
    assert await log.tallies.low_among(place, case_ids) == lowest
    assert await log.tallies.low_among(Place(team, "C2"), case_ids) == []


@pytest.mark.on("sqlite", "postgres")
async def test_low_replies_are_low_on_their_own_scale_and_were_chosen_or_drawn(log: Store) -> None:
    scales = [Scale(0, 5), Scale(1, 10), Scale(0, 100)]
    scores = [(scale, low_to(scale) + more) for scale in scales for more in (0, 1)]
    entries = [Entry(score=score, scale=scale) for scale, score in scores]
    for origin, probability in ((Origin.CHOSEN, None), (Origin.WATCHED, 0.5)):
        team = next(TEAMS)
        await write(log, team, entries, probability=probability)
        for which in Origin:
            low = await log.tallies.low(Place(team, "C1", origin=which), THIS_WEEK, 100, True)
            assert sorted(case.score for case in low) == ([2, 4, 40] if which is origin else [])


async def test_an_authors_figures_are_those_of_a_channel_without_the_others(log: Store) -> None:
    team = next(TEAMS)
    before = WEEK.before().start
    theirs = [Entry(score=1, labels=(2,)), Entry(score=None), Entry(judged_at=before)]
    others = [replace(each, author="B2", score=0) for each in theirs]
    await write(log, team, [*theirs, *others])
    assert await read(log, Place(team, "C1", "B1")) == await figures_of(log, *theirs)


@pytest.mark.needs("digest")
async def test_the_lowest_of_those_who_are_chosen_are_their_own_three(log: Store) -> None:
    from bot.features.digest.channel_week import read_lowest

    team = next(TEAMS)
    others = [Entry(author="U1", score=0), Entry(author=None, score=0)]
    await write(log, team, [*others, *(Entry(author="B1", score=n) for n in (2, 1, 0, 2))])
    drawn = _row(team, 1000, Entry(author="B2", score=1, judged_at=WEEK.end - MOMENT))
    await log.database.execute(insert(cases).values(drawn | {"probability": 1.0}))
    lowest = await read_lowest(log.tallies, Place(team, "C1"), THIS_WEEK, ["B1"])
    assert [(case.author_id, case.score) for case in lowest] == [("B1", 0), ("B2", 1), ("B1", 1)]


async def test_authors_are_those_of_public_verdicts_most_first(log: Store) -> None:
    team = next(TEAMS)
    hidden = [Entry(author="B3", visibility=Visibility.ME), Entry(author=None)]
    await write(log, team, [Entry(author="B2"), *[Entry(author="B1")] * 2, *hidden])
    assert await log.tallies.authors(Place(team, "C1"), THIS_WEEK) == ["B1", "B2"]


async def test_old_labels_are_held_against_the_weeks_scores(log: Store) -> None:
    long_ago = WEEK.before(9).start
    old = [Entry(score=1, labels=(1,), judged_at=long_ago) for _ in range(20)]
    new = [Entry(score=5) for _ in range(20)]
    _, details = await figures_of(log, *old, *new)
    assert details.unlike < 0.001
    alike = [replace(each, score=5) for each in old]
    _, details = await figures_of(log, *alike, *new)
    assert details.unlike == 1
