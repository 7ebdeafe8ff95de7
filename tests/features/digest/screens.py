"""The messages and windows of digests, for `tests/screens.py`."""

from dataclasses import replace

from bot.feature import WeekPart
from bot.features.digest import text
from bot.features.digest.channel_week import LowReplies
from bot.features.digest.low_list import list_window
from bot.features.digest.queries import SortedReply
from bot.figures.week import Author
from bot.slack.blocks import section
from bot.slack.members import Member
from bot.store.digests import ThumbCount
from bot.store.figures import Place
from tests.features.digest.test_digest_texts import (
    LOW,
    LOW_LIST,
    QUIET,
    URL,
    WEEK,
    a_week,
    chosen,
    details,
    tally,
)


def make(words: str) -> None:
    names = [f"B{number}" for number in range(1 + len(words) % 30)]
    members = {name: Member(words[:200] or "x", True) for name in names}
    low = [
        replace(LOW[number % 3], id=number, author_id="B0", reason=words, response=words)
        for number in range(1 + len(words) % 50)
    ]
    full = a_week(
        chosen(authors=tuple(Author(name, tally(5), tally(9)) for name in names)),
        part=WeekPart(frozenset(), [section(words[:600] or "x")]),
        replies=[SortedReply(each.id, "B0", words[:80] or "other") for each in low],
        lowest=low[:3],
        members=members,
    )
    for shown in (full, QUIET):
        text.week_message(shown, URL)
        one = replace(shown, place=Place("T1", "C1", "B0"))
        text.week_message(one, URL, words[:80])
        text.week_message(
            replace(one, causes=one.causes._replace(week=WEEK.before())), URL, words[:80]
        )
    thumbs = text.thumb_lines([ThumbCount(name, 1, 2, 3) for name in names], members)
    text.details_message(full.chosen, details(30), full.part.blocks, thumbs)
    sorted_ = [replace(each, cause=words[:80] or "other") for each in low]
    list_window(LowReplies(sorted_, members), LOW_LIST, URL, sends_files=True)
