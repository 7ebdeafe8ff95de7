"""The messages about topics, for `tests/screens.py`."""

from bot.domain.questions import Question
from bot.features.topics.text import topics_blocks, topics_post, week_block, write_post
from bot.features.topics.writing import Asked, to_gaps
from tests.features.topics.test_topic_counts import questions, report_of

URL = "https://acme.slack.com/"


def make(words: str) -> None:
    name = words[:200] or "x"
    report = report_of(questions(name, [2] * 30), questions("leave", [4] * 12))
    topics_post([*topics_blocks(" U1", name, report), *topics_blocks(" U1", name, report_of())])
    week_block(" U1", name, report, "")
    asked = [
        Asked(
            Question("C1", f"{at}.000001", f"{at}.000001", "U1", is_meant=True),
            name,
            words,
            None,
            ["low score"],
        )
        for at in range(1795339203, 1795339243)
    ]
    write_post(" U1", name, to_gaps(asked), {}, URL, has_file=True)
    write_post(" U1", name, [], {}, URL, has_file=False)
