from typing import Any

from bot.commands.doctor import slowness
from bot.settings import PreviewSettings
from tests.tables import each


@each(
    ("took_s", "settings", "expected"),
    [
        (2, {}, ""),
        # two ratings of 14 s, three times that to answer in
        (
            14,
            {},
            ": 28 s a verdict, so 129 an hour if the server answers one at a time; set "
            "JUDGE_TIMEOUT_S=90, or JUDGE_ASK=distribution if nobody needs reasons",
        ),
        (
            40,
            {"judge_samples": 1, "judge_timeout_s": 300, "judge_ask": "distribution"},
            ": 40 s a verdict, so 90 an hour if the server answers one at a time",
        ),
    ],
)
def test_doctor_says_what_a_slow_rating_means(
    took_s: float, settings: dict[str, Any], expected: str
) -> None:
    given = PreviewSettings(_env_file=None, slack_bot_token="xoxb-1", **settings)
    assert slowness(given, took_s) == expected
