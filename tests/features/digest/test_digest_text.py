"""The digest as a message: within Slack's limits whatever the figures are, and without what it must not say."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.week import Schedule, Week, parse_zone
from bot.features.digest import ids
from bot.features.digest.handlers import digest_state
from bot.features.digest.text import (
    MOST_AUTHORS,
    NEW_JUDGE,
    TOO_FEW,
    digest_message,
    judge_change,
    lowest_blocks,
    stats_message,
)
from bot.figures.charts import charts, moved, moved_in_short, weekly_means
from bot.figures.quality import Agreement, Quality, kappa_interval, to_quality
from bot.figures.week import Author, Figures, LowCase, Point, Tally, Usage
from bot.slack.blocks import section
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.store.channels import ChannelSettings
from bot.store.figures import Kind, ScoredCount
from judge.evaluation.stats import Interval, wilson
from judge.scoring.rubric import Scale
from pocket_slack.blocks import check_blocks
from tests.tables import each

WEEK = Week(2026, 47, parse_zone("Europe/Berlin"))
URL = "https://acme.slack.com/"
MOMENT = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)


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
        "lowest": (LowCase(7, 2, 5, "B1", "1795249798.298493", "1795249700.000001", MOMENT),),
        "authors": (Author("B1", tally(0, 0, 2, 0, 4, 2), tally(0, 0, 0, 5), None),),
        "blind": None,
        "seen": None,
        "unlike": 1.0,
        "quality": None,
        "usage": Usage(3, 4, 1200, 4, 0.5, 4),
    }
    return Figures(**(fields | changes))


def agreed(n: int, exact: int, kappa: float | None = 0.5) -> Agreement:
    found = None if kappa is None else Interval(kappa, kappa - 0.25, kappa + 0.25)
    return Agreement(n, wilson(exact, n), wilson(n, n), found)


def message(figures: Figures, members: dict[str, Member] | None = None, is_plain: bool = False) -> Post:
    post = digest_message(figures, [], members or {"B1": Member("helper", True)}, URL, "C1")
    return post.forms[-1] if is_plain else post


def words(post: Post) -> str:
    return str(post.blocks)


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
def test_it_keeps_slacks_limits(
    this: Tally,
    last: Tally,
    authors: list[tuple[str, Tally]],
    unscored: dict[str, int],
    found: Agreement | None,
    is_plain: bool,
) -> None:
    members = {f"B{number}": Member(name or "x", True) for number, (name, _) in enumerate(authors)}
    rows = tuple(
        Author(f"B{number}", each, last, Interval(-0.5, -0.7, -0.3)) for number, (_, each) in enumerate(authors)
    )
    figures = some(this=this, last=last, authors=rows, unscored=unscored, blind=found, seen=found)
    post = message(figures, members, is_plain)
    check_blocks(post.blocks)
    assert post.text.startswith("Week of 16–22 Nov 2026: ")
    assert len(post.text) < 300
    assert "<!channel>" not in post.text


@given(names)
def test_a_name_pings_nobody(name: str) -> None:
    post = message(some(), {"B1": Member(name or "x", True)}, is_plain=True)
    mrkdwn = "".join(block["text"]["text"] for block in post.blocks if block["type"] == "section")
    assert "<!channel>" not in mrkdwn


def test_the_order_is_headline_distribution_trend_lowest_table_and_the_small_print() -> None:
    post = message(some(unscored={"refused": 1}, blind=agreed(20, 15, -0.125)))
    kinds = [block["type"] for block in post.blocks]
    assert kinds == ["section", "data_visualization", "data_visualization", "section", "data_table", *["context"] * 3]
    figures = (
        "Mean *3.8* on a scale of 0 to 5. 0.8 higher than last week (between 0.2 and 1.3 higher).\n"
        "Scored 0 to 2: *25%*. Scored 4 to 5: *75%*."
    )
    headline = "*Week of 16–22 Nov 2026*: 8 replies chosen by people"
    assert post.blocks[0]["text"]["text"] == f"{headline}\n{figures}"
    assert post.text == f"{headline}. {figures}".replace("*", "").replace("\n", " ")
    kappa = "blind: within one point 100%, weighted kappa −0.12, between −0.38 and 0.12"
    assert f"Details: requested by 3 people · {kappa} · 1,200 tokens · $0.50" in words(post)


@each(
    ("change", "said", "in_short"),
    [
        (Interval(-0.4, -0.7, -0.1), "0.4 lower than {} (between 0.1 and 0.7 lower).", "▼ 0.4 (0.1 to 0.7)"),
        (Interval(0.3, 0.04, 0.56), "0.30 higher than {} (between 0.04 and 0.56 higher).", "▲ 0.30 (0.04 to 0.56)"),
        (Interval(0.4, -0.1, 0.9), "No clear change from {}.", "no clear change"),
        (Interval(-0.4, -0.8, 0.0), "No clear change from {}.", "no clear change"),
        (Interval(0.4, None, None), "", ""),
        (None, "", ""),
    ],
)
def test_a_change_is_said_with_its_range_and_only_where_it_is_clear(
    change: Interval | None, said: str, in_short: str
) -> None:
    assert moved(change, is_finished=True) == said.format("last week")
    assert moved(change, is_finished=False) == said.format("the same days of last week")
    assert moved_in_short(change) == in_short
    table = message(some(authors=(Author("B1", tally(0, 5), tally(5), change),)))
    assert in_short in words(table)


def test_agreement_is_told_apart_for_blind_labels_and_others_each_with_its_range() -> None:
    said = words(message(some(blind=agreed(105, 65), seen=agreed(20, 15))))
    # Wilson: t(104) = 1.983038, spread = 3.932440 / 104; the other as in tests/judge/test_stats.py.
    assert "from people, so far* · blind: 62%, between 52% and 71% (105 replies)" in said
    assert " · given after seeing the score: 75%, between 51% and 90% (20 replies)" in said
    few = words(message(some(blind=agreed(19, 19), seen=None)))
    assert "*Same score from the judge and from people, so far* · blind: too few labels (19 replies)" in few
    assert "kappa" not in few
    assert "Same score" not in words(message(some()))


def test_kappa_without_a_range_is_not_said() -> None:
    kappa = kappa_interval(Counter({(1, 1): 10, (4, 4): 10}), Scale(0, 5))
    alike = Agreement(20, wilson(20, 20), wilson(20, 20), kappa)
    assert "blind: within one point 100% · 1,200" in words(message(some(blind=alike)))


def test_of_few_scores_nothing_is_said_but_their_number() -> None:
    few = tally(0, 0, 1, 0, 2, 1)
    post = message(some(this=few, lowest=(), authors=(Author("B1", few, few, None),), trend=(Point(WEEK, None),)))
    assert post.text == f"Week of 16–22 Nov 2026: 4 replies chosen by people. {TOO_FEW}"
    assert {block["type"] for block in post.blocks} == {"section", "context"}


def test_the_distribution_has_a_bar_for_every_score_and_each_says_its_number() -> None:
    bars = message(some()).blocks[1]["chart"]
    assert bars["type"] == "bar"
    assert [(point["label"], point["value"]) for point in bars["series"][0]["data"]] == [
        ("0 (0)", 0), ("1 (0)", 0), ("2 (2)", 2), ("3 (0)", 0), ("4 (4)", 4), ("5 (2)", 2)
    ]  # fmt: skip


def test_the_trend_names_weeks_by_their_monday_and_leaves_those_without_scores_out() -> None:
    trend = tuple(Point(WEEK.before(back), None if back == 1 else 3.5 - back) for back in range(2, -1, -1))
    block = message(some(trend=trend)).blocks[2]
    assert block["chart"]["axis_config"]["categories"] == ["2 Nov (1.5)", "16 Nov (3.5)"]
    assert block["title"] == "Weekly mean of chosen replies"


def test_the_trend_is_an_area_of_its_means_alone_which_begins_at_zero_in_any_client() -> None:
    post = message(some(kind=Kind(1, 10, None), this=Tally({10: 4})))
    (trend,) = [block["chart"] for block in post.blocks if block.get("chart", {}).get("type") == "area"]
    assert [series["name"] for series in trend["series"]] == ["Weekly mean"]
    assert trend["axis_config"]["y_label"] == "Mean, on a scale of 1 to 10"
    check_blocks(post.blocks)


def test_a_quiet_week_is_one_line() -> None:
    post = message(some(this=tally(), lowest=(), authors=(), usage=Usage(0, 0, 0, 0, 0.0, 0)))
    assert post.text == "Week of 16–22 Nov 2026: no replies were scored in this channel."
    assert len(post.blocks) == 1


def test_a_week_that_begins_in_another_month_names_both() -> None:
    week = Week(2026, 49, WEEK.zone)
    assert message(some(week=week, until=week.end)).text.startswith("Week of 30 Nov–6 Dec 2026: ")


LOW = (
    LowCase(7, 0, 5, "B1", "1.000002", "1.000001", MOMENT, response="<!channel> *All*\nis " + "well. " * 99),
    LowCase(8, 1, 5, None, None, "1.000003", MOMENT, response="`Typed`"),
    LowCase(9, 1, 5, "U1", None, None, MOMENT, deleted_at=MOMENT),
)


def test_the_lowest_of_a_digest_are_links_with_a_button_and_without_any_text() -> None:
    (lowest, button) = message(some(lowest=LOW)).blocks[3:5]
    when = "<!date^1795249800^{date_short_pretty} at {time}|2026-11-21 08:30 UTC>"
    assert lowest["text"]["text"].splitlines() == [
        "*Lowest*",
        f"• <{URL}archives/C1/p1000002?thread_ts=1.000001&amp;cid=C1|Score 0 of 5> · helper · {when} · case 7",
        f"• <{URL}archives/C1/p1000003|Score 1 of 5> · typed · {when} · case 8",
        f"• Score 1 of 5 · {when} · case 9 · message deleted",
    ]
    assert [(each["action_id"], each["value"]) for each in button["elements"]] == [(ids.ACTION_LOWEST, "7,8")]
    assert "actions" not in [block["type"] for block in message(some(lowest=LOW[2:])).blocks]


def test_for_one_person_the_lowest_have_their_first_words_on_one_line_that_formats_nothing() -> None:
    (lowest,) = lowest_blocks(LOW, {"B1": Member("helper", True)}, URL, "C1", has_words=True)
    _, first, beginning, second, typed, third = lowest["text"]["text"].splitlines()
    assert ["case" in each for each in (first, second, third)] == [True] * 3
    assert beginning.startswith("\u2003“&lt;!channel&gt; All is well. well. ")
    assert (len(beginning), beginning[-2:]) == (3 + 80, "…”")
    assert typed == "\u2003“Typed”"


def test_who_is_not_to_be_listed_or_has_few_scores_is_not_in_the_table() -> None:
    figures = some(
        authors=(
            Author("U1", tally(5), tally(), None),
            Author("B1", tally(5), tally(), None),
            Author("B2", tally(4), tally(), None),
        )
    )
    members = {each: Member(name, True) for each, name in (("B1", "helper"), ("B2", "of four replies"))}
    table = message(figures, members).blocks[4]
    assert [row[0]["text"] for row in table["rows"]] == ["Assistant", "helper"]


@each("is_plain", [True, False])
def test_ten_watched_assistants_and_all_that_is_chosen_fit_into_a_message(is_plain: bool) -> None:
    figures = some(authors=tuple(Author(f"B{number}", tally(5), tally(), None) for number in range(50)), lowest=LOW)
    members = {author.id: Member("a name of thirty characters, or so", True) for author in figures.authors}
    drawn = [section("x" * 600), *charts(figures.this, figures.trend, Scale(0, 5), "random")] * 5
    lead = [*drawn, *[section("x" * 600)] * 5]
    post = digest_message(figures, lead, members, URL, "C1").forms[-1 if is_plain else 0]
    assert ["random" in str(block).lower() for block in post.blocks if block["type"] == "data_visualization"] == (
        [] if is_plain else [True, True]
    )
    check_blocks(post.blocks)


def test_the_table_has_an_end() -> None:
    authors = tuple(Author(f"B{number}", tally(5), tally(), None) for number in range(50))
    post = message(some(authors=authors), {author.id: Member(author.id, True) for author in authors})
    assert len(post.blocks[4]["rows"]) == MOST_AUTHORS + 1


@each(
    ("cost_usd", "with_cost", "part"),
    [
        (0.0, 0, "cost unknown"),
        (0.0, 3, "cost unknown"),
        (0.0, 4, "no cost"),
        (0.004, 4, "under $0.01"),
        (0.25, 1, "$0.25 for 1 of 4 cases, the rest unknown"),
        (1234.5, 4, "$1,234.50"),
    ],
)
def test_an_unknown_cost_stays_unknown(cost_usd: float, with_cost: int, part: str) -> None:
    assert f" · {part}'" in words(message(some(usage=Usage(3, 4, 1200, 4, cost_usd, with_cost))))


def test_unknown_tokens_stay_unknown() -> None:
    assert " · tokens unknown · $0.25 for 1 of 4" in words(message(some(usage=Usage(3, 4, 0, 0, 0.25, 1))))
    partly = words(message(some(usage=Usage(3, 4, 1000, 3, 0.25, 1))))
    assert "1,000 tokens for 3 of 4 cases, the rest unknown" in partly


def test_where_neither_tokens_nor_cost_are_known_nothing_is_said_of_them() -> None:
    post = message(some(usage=Usage(3, 4, 0, 0, 0.0, 0)))
    assert post.blocks[-1]["elements"][0]["text"] == "Details: requested by 3 people"


def test_ratings_that_were_saved_are_a_detail_where_any_might_be() -> None:
    usage = Usage(3, 40, 0, 0, 0.0, 0, skipped_ratings=31, with_skipping=40)
    assert "Details: requested by 3 people · third rating not needed: 31 of 40" in words(message(some(usage=usage)))
    assert "third rating not needed: 0 of 40" in words(message(some(usage=replace(usage, skipped_ratings=0))))
    assert "saved" not in words(message(some(usage=replace(usage, skipped_ratings=0, with_skipping=0))))


def test_what_no_model_scored_is_said_before_the_figures_are_drawn() -> None:
    shown = message(some(raters={OFFLINE: 2, MADE_UP: 1, None: 1})).blocks
    assert "2 of 4 cases scored by the offline rater" in str(shown[1])
    assert "1 of 4 cases made up for the demo" in str(shown[2])
    assert shown[3]["type"] == "data_visualization"
    assert "offline" not in words(message(some()))


def test_replies_that_were_not_read_in_full_are_counted_where_there_are_any() -> None:
    assert "1 of 4 replies had something that was not read." in words(message(some(unread=1)))
    assert "not read" not in words(message(some()))


def test_reasons_of_one_kind_are_counted_together() -> None:
    post = message(some(unscored={"DeadlineError": 2, "call_failed": 1, "no_score": 1, "conflicting": 3}, off_scale=1))
    assert "*Unscored: 7* · model not reachable: 3 · no reliable score in the model's answer: 4" in words(post)
    assert "not counted above, scored on another scale: 1" in words(post)


def test_another_scale_has_its_own_bars_and_its_own_low_scores() -> None:
    figures = some(kind=Kind(1, 10, None), this=Tally({1: 2, 10: 3}))
    post = message(figures)
    assert len(post.blocks[1]["chart"]["series"][0]["data"]) == 10
    assert figures.low == 4
    check_blocks(message(some(kind=Kind(0, 100, None), this=Tally({70: 5}))).blocks)


def test_the_state_says_when_the_next_one_comes() -> None:
    schedule, now = Schedule.parse("monday", "09:00", "Europe/Berlin"), datetime(2026, 11, 21, 12, tzinfo=UTC)
    settings = ChannelSettings("T1", "C1", is_digest_on=True)
    state = digest_state(settings, schedule, now)
    assert "every Monday at 09:00 (Europe/Berlin)" in state
    assert "The next one is on Monday, 23 Nov." in state
    assert "off" in digest_state(replace(settings, is_digest_on=False), schedule, now)


def quality(labelled: int, scores: int = 30) -> Quality:
    """Half fours, half fives by the judge; people give one point less."""
    given = [ScoredCount(4 + number % 2, None, 0, None, 1) for number in range(scores - labelled)]
    given += [ScoredCount(4 + number % 2, 3 + number % 2, 0, None, 1) for number in range(labelled)]
    found = to_quality(given, Scale(0, 5))
    assert found is not None
    return found


def test_blind_labels_correct_the_mean_beside_what_the_judge_says() -> None:
    post = message(some(quality=quality(20)))

    assert post.blocks[0]["text"]["text"].splitlines()[-1] == (
        "The last four weeks, corrected by 20 blind labels: mean *3.5*, between 3.0 and 3.7; 4 or more: 50%, between "
        "28% and 72%. The judge's own mean of these 30 scores is 4.5."
    )
    assert "own errors" not in words(post)


def test_too_few_blind_labels_say_how_many_are_missing_and_what_the_range_leaves_out() -> None:
    post = message(some(quality=quality(19)))

    (line,) = (block["elements"][0]["text"] for block in post.blocks if "own errors" in str(block))
    assert line == (
        "Mean over the last four weeks: 4.5, between 4.0 and 4.6. This range ignores the judge's own errors; "
        "1 more blind label would correct for them (`/judge label`)."
    )
    assert "corrected by" not in words(post)


def test_blind_labels_of_few_threads_count_as_few() -> None:
    given = [ScoredCount(4, 3 + number % 2, 0, f"{number % 15}", 1) for number in range(30)]
    post = message(some(quality=to_quality(given, Scale(0, 5))))

    assert "5 more blind labels would correct for them" in words(post)
    assert "corrected by" not in words(post)


def test_few_scores_have_no_range_and_no_sentence() -> None:
    assert "own errors" not in words(message(some(quality=quality(0, scores=1))))
    assert "own errors" not in words(message(some(quality=quality(0, scores=9))))
    assert "own errors" in words(message(some(quality=quality(0, scores=10))))


def test_the_trend_is_of_one_judge_version_and_names_the_gap() -> None:
    old, new = "gpt-6-luna, additive-5 1f2e3d4c", "gpt-6-terra, additive-5 1f2e3d4c"
    means = [(2.0, old), (None, None), (2.5, old), (4.0, new), (4.5, new)]
    trend = tuple(Point(WEEK.before(4 - at), mean, version) for at, (mean, version) in enumerate(means))
    figures = some(trend=trend, kind=Kind(0, 5, new))

    post = message(figures)

    (line,) = (block["chart"] for block in post.blocks if block.get("chart", {}).get("type") == "area")
    assert [point["value"] for point in line["series"][0]["data"]] == [4.0, 4.5]
    said = (
        "Another judge (`gpt-6-luna, additive-5 1f2e3d4c`) scored the weeks before 9 Nov, so they are not compared: "
        "weekly mean 2.0, 2.5."
    )
    assert said in words(post)
    assert judge_change(figures) == said
    assert weekly_means(trend).replace("\xa0", " ") == "9 Nov: 4.0 · 16 Nov: 4.5"
    assert "Another judge" not in words(message(some()))


def test_a_change_is_not_told_where_the_judge_changed() -> None:
    trend = Point(WEEK.before(), 3.0, "old"), Point(WEEK, 3.8, "new")

    post = message(some(trend=trend, kind=Kind(0, 5, "new"), off_version=3, change=None, has_new_judge=True))

    assert NEW_JUDGE in post.text
    assert "not counted above, scored by another judge: 3" in words(post)
    assert "area" not in [block.get("chart", {}).get("type") for block in post.blocks]


def test_labels_that_are_no_longer_like_the_week_are_a_warning() -> None:
    careful = "careful: this week's replies differ from the labelled ones"
    assert careful in words(message(some(seen=agreed(20, 15), unlike=0.005)))
    assert careful not in words(message(some(seen=agreed(20, 15), unlike=0.02)))
    assert careful not in words(message(some(seen=agreed(19, 15), unlike=0.005)))


def test_stats_say_how_many_scores_other_judges_gave_and_nothing_where_none_did() -> None:
    def said(**changes: Any) -> str:
        return words(
            stats_message(some(**changes), [], {"B1": Member("helper", True)}, URL, "C1", "", has_lowest=False)
        )

    assert "not counted above, scored by another judge: 8" in said(off_version=8)
    assert "not counted above, scored on another scale: 2" in said(off_scale=2)
    assert "not counted above" not in said(unscored={"no_score": 3})
    assert "Unscored" not in said(unscored={"no_score": 3}, off_version=8)


def test_stats_of_one_assistant_have_its_own_agreement() -> None:
    figures = some(blind=agreed(20, 15))

    of_one = stats_message(figures, [], {"B1": Member("helper", True)}, URL, "C1", "helper", has_lowest=True)
    of_all = stats_message(figures, [], {"B1": Member("helper", True)}, URL, "C1", "", has_lowest=False)

    assert "blind: 75%" in words(of_one)
    assert "blind" not in words(of_all)
