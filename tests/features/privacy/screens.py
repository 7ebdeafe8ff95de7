"""The messages of forgetting, for `tests/screens.py`."""

from bot.features.privacy import text
from bot.pipeline.case_access import ListedCase
from tests.pipeline.test_verdict_text import a_case


def make(words: str) -> None:
    quoted = [
        ListedCase(a_case(id=number), words[:80], words[:300], "" if words else "Gone.")
        for number in range(10)
    ]
    many = [*range(10**9, 10**9 + 150)]
    text.ask_for_cases(many, quoted, words[:300], "https://acme.slack.com/")
