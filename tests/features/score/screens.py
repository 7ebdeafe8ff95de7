"""The messages and windows of the score feature, for `tests/screens.py`."""

from bot.features.score import command, details
from bot.slack.blocks import section
from judge import Turn
from tests.cases import bare_verdict
from tests.pipeline.test_verdict_text import a_case, ratings


def make(words: str) -> None:
    command.help_line(command.SAY, [section(words[:3000] or "x")])
    talk = (Turn("Person 1", words or "x"),) * 3
    texts = {"question": words or "x", "response": words or "x", "unread": words[:300]}
    case = a_case(messages=3, messages_before=3, left_out=1, conversation=talk, **texts)
    its = {
        "mean": 3.9,
        "input_tokens": 10**6,
        "output_tokens": 10**6,
        "latency_ms": 10**6,
        "model": words[:200] or "m",
    }
    several = [each for number in range(1 + len(words) % 30) for each in ratings(number % 6)]
    details.details_modal(
        case, bare_verdict(ratings=tuple(several), **its), words[:300], may_ask=True
    )
    details.details_modal(case, bare_verdict(points={words[:100] or "x": 0.5}, **its), may_ask=True)
