"""The texts of the digest and of `/judge stats` (see `__snapshots__`), and Slack's limits for them."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.week import Schedule, Week, parse_zone
from bot.features.digest.causes import list_window
from bot.features.digest.handlers import DIRECT, digest_state, no_author, no_channel, unsure
from bot.features.digest.text import (
    MOST_AUTHORS,
    details_message,
    digest_message,
    judge_change,
    moved_in_short,
    stats_message,
)
from bot.figures.charts import charts, moved, weekly_means
from bot.figures.quality import Agreement, Quality, to_quality
from bot.figures.week import Author, Figures, LowCase, Point, Tally, Usage
from bot.slack.blocks import section
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.store.channels import ChannelSettings
from bot.store.figures import CountedCase, Kind
from judge.evaluation.kappa import kappa_of
from judge.evaluation.stats import Interval, wilson
from judge.scoring.rubric import Scale
from pocket_slack.blocks import check_blocks, check_view
from tests.tables import each
from tests.texts import read, unlike

WEEK = Week.until(datetime(2026, 11, 23, 8, tzinfo=UTC), parse_zone("Europe/Berlin"))
URL = "https://acme.slack.com/"
MOMENT = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)
HELPER = {"B1": Member("helper", True)}
LOW = (
    LowCase(
        7,
        0,
        5,
        "C1",
        "B1",
        "1.000002",
        "1.000001",
        MOMENT,
        response="<!channel> *All*\nis " + "well. " * 99,
        reason="<!here> It _never_\nanswers. " * 9,
    ),
    LowCase(8, 1, 5, "C1", None, "1.000003", None, MOMENT, response="`Code`"),
    LowCase(9, 1, 5, "C1", "U1", "1.000004", None, MOMENT, deleted_at=MOMENT),
)


def tally(*counts: int) -> Tally:
    return Tally({score: count for score, count in enumerate(counts) if count})


def some(**changes: Any) -> Figures:
    fields: dict[str, Any] = {
        "week": WEEK,
        "until": WEEK.end,
        "kind": Kind(0, 5, None),
        "this": tally(0, 0, 2, 0, 4, 2),
        "last": tally(0, 0, 0, 5),
        "change": Interval(0.75, 0.2, 1.3),
        "has_new_judge": False,
        "off_scale": 0,
        "off_version": 0,
        "unscored": {},
        "raters": {None: 4},
        "unread": 0,
        "trend": tuple(Point(WEEK.before(back), 3.0) for back in range(7, -1, -1)),
        "lowest": (LowCase(7, 2, 5, "C1", "B1", "1795249798.298493", "1795249700.000001", MOMENT),),
        "authors": (Author("B1", tally(0, 0, 2, 0, 4, 2), tally(0, 0, 0, 5), None),),
        "blind": None,
        "seen": None,
        "unlike": 1.0,
        "quality": None,
        "people": None,
        "usage": Usage(3, 4, 1200, 4, 0.5, 4),
        "uncounted": {},
    }
    return Figures(**(fields | changes))


def agreed(n: int, exact: int, kappa: float | None = 0.5) -> Agreement:
    found = None if kappa is None else Interval(kappa, kappa - 0.25, kappa + 0.25)
    return Agreement(n, wilson(exact, n), wilson(n, n), found)


def quality(labelled: int, scores: int = 30, threads: int = 0) -> Quality:
    """Half fours, half fives by the judge; people give one point less."""
    given = []
    for number in range(scores):
        label = str(3 + number % 2) if number < labelled else None
        thread = f"{number % threads if threads else number}"
        given.append(CountedCase(number, 4 + number % 2, "B1", 0, 0, thread, given=label))
    found = to_quality(given, Scale(0, 5))
    assert found is not None
    return found


def message(
    figures: Figures, members: dict[str, Member] | None = None, is_plain: bool = False
) -> Post:
    post = digest_message(figures, [], members or HELPER, URL, "C1")
    return post.forms[-1] if is_plain else post


def all_words(figures: Figures) -> str:
    """Those of the digest, and of what it leaves to *Details*."""
    return f"{words(message(figures))}\n\nDetails:\n{read(details_message(figures).blocks)}"


def words(post: Post) -> str:
    return f"{post.text}\n\n{read(post.blocks)}"


def usage(tokens: int, with_tokens: int, cost_usd: float, with_cost: int, **more: int) -> Figures:
    return some(usage=Usage(3, 4, tokens, with_tokens, cost_usd, with_cost, **more))


def trend(*points: tuple[float | None, str | None]) -> tuple[Point, ...]:
    return tuple(
        Point(WEEK.before(len(points) - 1 - at), *point) for at, point in enumerate(points)
    )


FEW = tally(0, 0, 1, 0, 2, 1)
NEXT = Week.until(datetime(2026, 12, 4, 15, tzinfo=UTC), WEEK.zone)
OLD = "gpt-6-luna, additive-5 1f2e3d4c"
NEW = "gpt-6-terra, additive-5 1f2e3d4c"
WEEKS = {
    "of another month": some(week=NEXT, until=NEXT.end),
    "that is not over": some(until=MOMENT),
    "without scores": some(this=tally(), lowest=(), authors=(), usage=Usage(0, 0, 0, 0, 0.0, 0)),
    "of few scores": some(
        this=FEW, lowest=(), authors=(Author("B1", FEW, FEW, None),), trend=trend((None, None))
    ),
    "on another scale": some(kind=Kind(1, 10, None), this=Tally({1: 2, 10: 3})),
    "on a scale of many scores": some(kind=Kind(0, 100, None), this=Tally({70: 5})),
    "with gaps before it": some(trend=trend((1.5, None), (None, None), (3.5, None))),
    "after one of another judge": some(
        trend=trend((3.0, OLD), (3.8, NEW)), kind=Kind(0, 5, NEW), has_new_judge=True
    ),
    "after several of another judge": some(
        trend=trend((2.0, OLD), (None, None), (2.5, OLD), (4.0, NEW), (4.5, NEW)),
        kind=Kind(0, 5, NEW),
    ),
    "with scores that are not counted": some(
        unscored={"DeadlineError": 2, "call_failed": 1, "no_score": 1, "conflicting": 3},
        off_scale=1,
        off_version=3,
    ),
    "without a model": some(raters={OFFLINE: 2, MADE_UP: 1, None: 1}),
    "with replies not read in full": some(unread=1),
    "with links to the lowest": some(lowest=LOW),
    "with deleted lowest": some(lowest=LOW[2:]),
    "with blind labels and others": some(blind=agreed(105, 65, -0.125), seen=agreed(20, 15)),
    "with too few labels": some(blind=agreed(19, 19), quality=quality(3)),
    "with labels that always agree": some(
        blind=Agreement(
            20,
            wilson(20, 20),
            wilson(20, 20),
            kappa_of(Counter({(1, 1): 10, (4, 4): 10}), Scale(0, 5)),
        )
    ),
    "unlike its labels": some(seen=agreed(20, 15), unlike=0.005),
    "hardly unlike its labels": some(seen=agreed(20, 15), unlike=0.02),
    "unlike its too few labels": some(seen=agreed(19, 15), unlike=0.005),
    "corrected by blind labels": some(quality=quality(20)),
    "corrected on both sides": some(people=(quality(20), Interval(-1.0, -1.5, -0.5))),
    "with a blind label missing": some(quality=quality(19)),
    "with blind labels in few threads": some(quality=quality(30, threads=15)),
    "with ten scores in four weeks": some(quality=quality(0, scores=10)),
    "with nine scores in four weeks": some(quality=quality(0, scores=9)),
    "of some unknown tokens": usage(1000, 3, 0.25, 1),
    "of unknown tokens": usage(0, 0, 0.25, 1),
    "of unknown tokens and cost": usage(0, 0, 0.0, 0),
    "of unknown cost": usage(1200, 4, 0.0, 0),
    "of unknown cost but for what cost nothing": usage(1200, 4, 0.0, 3),
    "that cost nothing": usage(1200, 4, 0.0, 4),
    "that cost less than a cent": usage(1200, 4, 0.004, 4),
    "that cost much": usage(1200, 4, 1234.5, 4),
    "with third ratings not needed": usage(1200, 4, 0.5, 4, skipped_ratings=31, with_skipping=40),
    "with all third ratings needed": usage(1200, 4, 0.5, 4, with_skipping=40),
}
AUTHORS = (
    Author("B1", tally(5), tally(5), Interval(0.3, 0.04, 0.56)),
    Author("B2", tally(5), tally(), None),
    Author("B3", tally(5), tally(1), None),
    Author("B4", tally(4), tally(), None),
    Author("U1", tally(5), tally(), None),
)


def test_the_digest_reads_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    assert all_words(some()) == snapshot
    assert words(message(some(), is_plain=True)) == snapshot(name="in plain blocks")


@pytest.mark.parametrize("week", WEEKS)
def test_a_week_reads_as_in_the_snapshot(week: str, snapshot: SnapshotAssertion) -> None:
    """Only what differs from the usual digest is in the snapshot."""
    post = message(WEEKS[week])
    check_blocks(post.blocks)
    assert unlike(all_words(some()), all_words(WEEKS[week])) == snapshot


@each(
    ("change", "said", "in_short"),
    [
        (
            Interval(-0.4, -0.7, -0.1),
            "0.4 lower than {} (between 0.1 and 0.7 lower).",
            "▼ 0.4 (0.1 to 0.7)",
        ),
        (
            Interval(0.3, 0.04, 0.56),
            "0.30 higher than {} (between 0.04 and 0.56 higher).",
            "▲ 0.30 (0.04 to 0.56)",
        ),
        (Interval(0.4, -0.1, 0.9), "No clear change from {}.", "no clear change"),
        (Interval(-0.4, -0.8, 0.0), "No clear change from {}.", "no clear change"),
        (None, "", ""),
    ],
)
def test_only_a_clear_change_has_a_number(
    change: Interval | None, said: str, in_short: str
) -> None:
    assert moved(change) == said.format("the four weeks before")
    assert moved_in_short(change) == in_short


def test_the_table_has_the_authors_to_be_named_who_have_enough_scores(
    snapshot: SnapshotAssertion,
) -> None:
    members = {f"B{number}": Member(f"helper {number}", True) for number in range(1, 5)}
    blocks = message(some(authors=AUTHORS), members).blocks
    assert read([block for block in blocks if block["type"] == "data_table"]) == snapshot


def test_the_trend_is_an_area_that_begins_at_zero_in_every_client() -> None:
    """A line may be drawn from its lowest point."""
    (chart,) = (block["chart"] for block in message(some()).blocks if "chart" in block)
    assert chart["type"] == "area"
    assert [point["value"] for point in chart["series"][0]["data"]] == [3.0] * 8


def test_the_trend_in_words_names_the_weeks_of_another_judge_apart() -> None:
    figures = WEEKS["after several of another judge"]
    assert weekly_means(figures.trend).replace("\xa0", " ") == "9 Nov: 4.0 · 16 Nov: 4.5"
    assert judge_change(figures) in all_words(figures)


def test_the_window_of_low_replies_shows_words_that_format_nothing(
    snapshot: SnapshotAssertion,
) -> None:
    low = [replace(case, author_id="B1", question="Why?") for case in LOW]
    window = list_window(low, HELPER, {7: "no <source>", 8: "other"}, URL)
    check_view(window, "modal")
    assert read(window["blocks"]) == snapshot


def test_stats_of_one_author_have_the_agreement_and_those_of_a_channel_its_authors(
    snapshot: SnapshotAssertion,
) -> None:
    figures = some(
        blind=agreed(20, 15), off_version=8, off_scale=2, unscored={"no_score": 3}, unread=1
    )
    for subject in ("helper", ""):
        post = stats_message(figures, [], HELPER, URL, "C1", subject, has_lowest=bool(subject))
        assert words(post) == snapshot(name=subject or "the channel")


def test_the_settings_say_when_the_next_digest_comes(snapshot: SnapshotAssertion) -> None:
    schedule = Schedule.parse("monday", "09:00", "Europe/Berlin")
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    settings = ChannelSettings("T1", "C1", is_digest_on=True)
    states = [settings, replace(settings, is_digest_on=False)]
    assert "\n".join(digest_state(each, schedule, now) for each in states) == snapshot


def test_the_answers_about_stats_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    said = [
        DIRECT,
        no_channel("#leads"),
        unsure("missing_scope"),
        no_author("@zoe", []),
        no_author("@zoe", ["helper", "pager"]),
    ]
    assert "\n".join(said) == snapshot


counts = st.dictionaries(st.integers(0, 5), st.integers(1, 10**6), max_size=6).map(Tally)
names = st.one_of(st.text(max_size=200), st.sampled_from(["<!channel>" * 20, "&" * 300, "ß" * 81]))
agreements = st.none() | st.integers(1, 99).flatmap(
    lambda n: st.builds(agreed, st.just(n), st.integers(0, n), st.floats(-1, 1) | st.none())
)


@given(
    counts,
    counts,
    st.lists(st.tuples(names, counts), max_size=40),
    st.dictionaries(st.sampled_from(["refused", "DeadlineError", "x"]), st.integers(1, 9)),
    agreements,
    st.booleans(),
)
def test_it_keeps_slacks_limits_and_notifies_no_channel(
    this: Tally,
    last: Tally,
    authors: list[tuple[str, Tally]],
    unscored: dict[str, int],
    found: Agreement | None,
    is_plain: bool,
) -> None:
    members = {f"B{number}": Member(name or "x", True) for number, (name, _) in enumerate(authors)}
    rows = tuple(
        Author(f"B{number}", each, last, Interval(-0.5, -0.7, -0.3))
        for number, (_, each) in enumerate(authors)
    )
    figures = some(this=this, last=last, authors=rows, unscored=unscored, blind=found, seen=found)
    post = message(figures, members, is_plain)
    check_blocks(post.blocks)
    assert len(post.text) < 300
    mrkdwn = "".join(block["text"]["text"] for block in post.blocks if block["type"] == "section")
    assert "<!channel>" not in post.text + mrkdwn


@each("is_plain", [True, False])
def test_ten_watched_assistants_and_all_that_is_chosen_fit_into_a_message(is_plain: bool) -> None:
    figures = some(
        authors=tuple(Author(f"B{number}", tally(5), tally(), None) for number in range(50)),
        lowest=LOW,
    )
    members = {
        author.id: Member("a name of thirty characters, or so", True) for author in figures.authors
    }
    drawn = [section("x" * 600), *charts(figures.this, figures.trend, Scale(0, 5), "random")] * 5
    lead = [*drawn, *[section("x" * 600)] * 5]
    post = digest_message(figures, lead, members, URL, "C1").forms[-1 if is_plain else 0]
    assert [
        "random" in str(block).lower()
        for block in post.blocks
        if block["type"] == "data_visualization"
    ] == ([] if is_plain else [True, True])
    check_blocks(post.blocks)
    if not is_plain:
        assert (
            len(next(b for b in post.blocks if b["type"] == "data_table")["rows"])
            == MOST_AUTHORS + 1
        )
