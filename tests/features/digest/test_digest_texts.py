"""The texts of the digest and of `/judge stats` (see `__snapshots__`), and Slack's limits for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from syrupy.assertion import SnapshotAssertion

from bot.domain.verdict import MADE_UP, OFFLINE
from bot.domain.week import Schedule, Week, parse_zone
from bot.feature import WeekPart
from bot.features.digest.channel_week import Causes, ChannelWeek, LowReplies
from bot.features.digest.handlers import digest_state
from bot.features.digest.low_list import list_window
from bot.features.digest.queries import SortedReply
from bot.features.digest.stats import DIRECT, no_author, no_channel
from bot.features.digest.text import (
    MOST_AUTHORS,
    cause_blocks,
    details_message,
    thumb_lines,
    week_message,
)
from bot.figures.lowest import LowList, folded, low_lines
from bot.figures.quality import Agreement, to_quality
from bot.figures.week import Author, Chosen, Details, Point, Tally
from bot.slack.blocks import section
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.store.channels import ChannelSettings
from bot.store.digests import ThumbCount
from bot.store.figures import CountedCase, Kind, LowCase, Place, Usage
from judge.evaluation.stats import wilson
from judge.scoring.rubric import Scale
from pocket_slack.blocks import check_blocks
from tests.texts import read

WEEK = Week.until(datetime(2026, 11, 23, 8, tzinfo=UTC), parse_zone("Europe/Berlin"))
URL = "https://acme.slack.com/"
MOMENT = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)
MEMBERS = {"B1": Member("helper", True), "B2": Member("drafter", True)}
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
        question="When does it arrive?",
        response="<!channel> *All*\nis " + "well. " * 99,
        reason="<!here> It _never_\nanswers. " * 9,
    ),
    LowCase(8, 1, 5, "C1", None, "1.000003", None, MOMENT, response="`Code`"),
    LowCase(9, 1, 5, "C1", "B2", "1.000004", None, MOMENT, deleted_at=MOMENT),
)
LOW_LIST = LowList("C1", WEEK.start, WEEK.end)
STANDING = section("▼ *drafter* is still worse: 1.6 since 12 Nov, was 3.5")
SORTED = [
    SortedReply(7, "B1", "does not answer"),
    SortedReply(8, "B2", "does not answer"),
    SortedReply(9, "B2", "does not answer"),
    SortedReply(10, "B2", "other"),
    SortedReply(11, "U1", "other"),
]


def tally(*counts: int) -> Tally:
    return Tally({score: count for score, count in enumerate(counts) if count})


def chosen(**changes: Any) -> Chosen:
    fields: dict[str, Any] = {
        "week": WEEK,
        "until": WEEK.end,
        "kind": Kind(0, 5, None),
        "this": tally(0, 0, 2, 0, 4, 2),
        "level": tally(0, 0, 4, 0, 8, 4),
        "authors": (
            Author("B1", tally(0, 0, 2, 0, 4), tally(0, 0, 4, 0, 8, 4)),
            Author("B2", tally(0, 2), tally(0, 9)),
            Author("U1", tally(5), tally(5)),
        ),
        "raters": {None: 8},
        "unscored": {},
        "otherwise": 0,
    }
    return Chosen(**(fields | changes))


def a_week(
    its: Chosen | None = None, replies: Sequence[SortedReply] = SORTED, **changes: Any
) -> ChannelWeek:
    fields: dict[str, Any] = {
        "place": Place("T1", "C1"),
        "week": (its or chosen()).week,
        "part": WeekPart(frozenset({"B2"}), [STANDING]),
        "chosen": its or chosen(),
        "causes": Causes((its or chosen()).week, replies, SORTED[1:3]),
        "lowest": LOW,
        "members": MEMBERS,
    }
    return ChannelWeek(**(fields | changes))


NOTHING = chosen(this=tally(), level=tally(), authors=(), raters={})
QUIET = a_week(NOTHING, part=WeekPart(frozenset(), []), replies=[], lowest=())


def details(labelled: int = 0, **changes: Any) -> Details:
    """Half fours, half fives by the judge; people give one point less to so many."""
    cases = list[CountedCase]()
    for number in range(30):
        label = f"U1 {3 + number % 2}" if number < labelled else None
        cases.append(CountedCase(number, 4 + number % 2, 0, 0, f"{number}", given=label))
    agreement = Agreement(labelled, wilson(labelled, labelled))
    fields: dict[str, Any] = {
        "quality": to_quality(cases, Scale(0, 5)),
        "trend": [Point(WEEK.before(back), 3.0 if back else None) for back in (3, 2, 1, 0)],
        "blind": agreement if labelled else None,
        "seen": None,
        "unlike": 1.0,
        "usage": Usage(9, 1200, 8, 0.5, 9),
    }
    return Details(**(fields | changes))


MESSAGES: Mapping[str, Post] = {
    "digest": week_message(a_week(), URL),
    "stats of one": week_message(
        a_week(
            chosen(until=MOMENT),
            place=Place("T1", "C1", "B2"),
            causes=Causes(WEEK.before(), SORTED, SORTED[1:3]),
            members={"B2": MEMBERS["B2"]},
        ),
        URL,
        "drafter",
    ),
    "without scores": week_message(QUIET, URL),
    "of no model": week_message(
        a_week(chosen(raters={OFFLINE: 3, MADE_UP: 2, None: 3}), replies=[], lowest=()), URL
    ),
    "after a changed day": week_message(
        a_week(replace(NOTHING, week=replace(WEEK, start=MOMENT)), replies=[], lowest=()), URL
    ),
    "details": details_message(
        chosen(unscored={"refused": 2}, otherwise=3),
        details(30, unlike=0.001),
        [section("*drafter*, on a scale from 0 to 5")],
        thumb_lines([ThumbCount("B1", 3, 1, 4), ThumbCount("U1", 9, 9, 9)], MEMBERS),
    ),
    "details of few labels": details_message(
        chosen(this=tally(2), raters={None: 2}), details(5, trend=()), [], ""
    ),
    "no details": details_message(
        NOTHING, Details(None, [], None, None, 1.0, Usage(0, 0, 0, 0, 0)), [], ""
    ),
}


def test_a_message_reads_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    for name, post in MESSAGES.items():
        check_blocks(post.blocks)
        assert f"{post.text}\n\n{read(post.blocks)}" == snapshot(name=name)


def test_causes_beyond_those_that_are_listed_are_counted() -> None:
    found = [SortedReply(number, "B1", f"cause {number}") for number in range(5)]
    said = read(cause_blocks(a_week(causes=Causes(WEEK, found, []))))
    assert said.startswith("*Why replies scored low, 16 Nov to 23 Nov* (5 replies)\n• cause 0")
    assert said.endswith("• cause 2: *helper* 1\n• other causes: 2")


def test_the_window_of_low_replies_shows_words_that_format_nothing(
    snapshot: SnapshotAssertion,
) -> None:
    authors = {"B1": MEMBERS["B1"], "B2": MEMBERS["B2"], "": Member("pager", True)}
    low = [replace(LOW[0], cause="does not answer"), *LOW[1:]]
    window = list_window(LowReplies(low, authors), LOW_LIST, URL, sends_files=True)
    check_blocks(window["blocks"])
    assert read(window["blocks"]) == snapshot
    assert read(list_window(LowReplies([], {}), LOW_LIST, URL)["blocks"]) == "No low replies."
    without_words = list_window(LowReplies(LOW[1:], authors), LOW_LIST, URL, sends_files=True)
    assert "Send me this" not in read(without_words["blocks"])


def test_replies_with_the_same_answer_or_question_are_one_and_the_lowest_stands_for_them() -> None:
    first = replace(LOW[0], score=1, response="Ask HR.")
    low = [
        first,
        replace(first, id=11, question="Where is it?", response="ask  hr."),
        replace(first, id=12, score=0, question="when does it\narrive?", response="Soon."),
        replace(first, id=13, author_id="B2"),
        replace(first, id=14, question=None, response=None),
        replace(first, id=15, question=None, response=None),
    ]
    assert [case.ids for case in folded(low)] == [(12, 7, 11), (13,), (14,), (15,)]
    alike = folded(low[:2])[0]
    assert (
        low_lines(alike, "helper", URL)[1] == "2 replies alike, such as to “When does it arrive?”"
    )


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
        no_author("zoe", {}),
        no_author("zoe", MEMBERS),
    ]
    assert "\n".join(said) == snapshot


def test_ten_assistants_are_listed_and_notify_no_channel() -> None:
    members = {f"B{number}": Member("<!channel>", True) for number in range(12)}
    rows = tuple(Author(author_id, tally(5), tally(9)) for author_id in members)
    replies = [SortedReply(number, f"B{number}", "<!channel>") for number in range(9)]
    post = week_message(a_week(chosen(authors=rows), replies, members=members), URL)
    said = post.text + "".join(block.get("text", {}).get("text", "") for block in post.blocks)
    assert "<!channel>" not in said
    assert said.count("*: 5 replies chosen by people") == MOST_AUTHORS
