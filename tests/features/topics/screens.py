"""The messages about topics, for `tests/screens.py`."""

from dataclasses import replace

from bot.features.topics.text import topics_blocks, topics_post, week_block, write_post
from bot.features.topics.writing import to_gaps
from tests.features.topics.test_topic_counts import questions, report_of

URL = "https://acme.slack.com/"


def make(words: str) -> None:
    name = words[:200] or "x"
    report = report_of(questions(name, [2] * 30), questions("leave", [4] * 12))
    topics_post([*topics_blocks(" U1", name, report), *topics_blocks(" U1", name, report_of())])
    week_block(" U1", name, report, "")
    asked = questions(name, [None] * 40)
    said = {each.question.ts: words for each in asked}
    gaps = [replace(gap, groups=gap.groups[:3]) for gap in to_gaps(asked)]
    write_post(" U1", name, gaps, said, URL, has_file=True)
    write_post(" U1", name, [], {}, URL, has_file=False)
