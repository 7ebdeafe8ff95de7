"""The messages and windows of digests, for `tests/screens.py`."""

from dataclasses import replace

from bot.features.digest import text
from bot.features.digest.causes import cause_blocks, list_window
from bot.figures.week import Author
from bot.slack.blocks import section
from bot.slack.members import Member
from bot.store.digests import ThumbCount
from tests.features.digest.test_digest_texts import LOW, URL, WEEKS, some, tally


def make(words: str) -> None:
    names = [f"B{number}" for number in range(1 + len(words) % 30)]
    members = {name: Member(words[:200] or "x", True) for name in names}
    low = [
        replace(LOW[number % 3], id=number, author_id="B0", reason=words, response=words)
        for number in range(1 + len(words) % 50)
    ]
    full = some(
        authors=tuple(Author(name, tally(5), tally(3), None) for name in names),
        lowest=tuple(low[:3]),
    )
    causes = {each.id: words[:80] or "other" for each in low}
    lead = [section(words[:600] or "x")]
    for figures in [full, *(WEEKS.values() if words else [WEEKS["without scores"]])]:
        text.digest_message(
            figures, lead, members, URL, "C1", cause_blocks(causes, {}, [("x", causes)])
        )
        text.details_message(figures)
        thumbs = text.thumb_lines([ThumbCount(name, 1, 2, 3) for name in names], members)
        text.stats_message(
            figures, lead, members, URL, "C1", words[:80], thumbs=thumbs, has_lowest=True
        )
    text.digest_message(WEEKS["without scores"], [], {}, URL, "C1")
    list_window(low, members, causes, URL, "C1:0")
