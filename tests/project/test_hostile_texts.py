"""Whatever reads the words of a model or a person takes time linear in them.

All cases share one event loop: a pattern that goes back over its text for each of its characters
stops the app for seconds, and Slack gets no acknowledgement. Processor time is measured, so that a
busy machine changes nothing, and a call that is over its limit is interrupted.
"""

import asyncio
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import openai
import pytest

from bot.domain.week import parse_zone
from bot.pipeline.exchange import to_exchange
from bot.slack import mrkdwn
from bot.slack.blocks import quotes
from bot.slack.invocation import parse_command
from bot.slack.message_text import read
from bot.slack.messages import Message, to_message
from judge import JudgeError, Rubric, Turn, Unscored, load_rubric, parse_rating, render_prompt
from judge.evaluation.causes import find_causes
from judge.evaluation.naming import read_names, words_in
from judge.rows.messages import read_messages
from judge.rows.row_file import parse_item
from judge.scoring.attacks import find_flags, nothing_to_judge
from judge.scoring.attacks.marks import unmark
from judge.scoring.beside import read_points
from judge.scoring.conversation import bounded
from judge.scoring.judging import Written
from judge.scoring.model.failures import rejected_option, to_judge_error
from judge.scoring.offline import rate_offline
from judge.scoring.prompt import render_second_request
from judge.scoring.ratings import UnscoredReason
from judge.scoring.reading import parse_score_line
from judge.scoring.rubric import Scale
from judge.scoring.sanitize import sanitize
from tests.judge_client import status_error
from tests.tables import each

ROOT = Path(__file__).parents[2]
LENGTH = 20_000
TIMES, FLOOR_S = 20, 0.2

HARMLESS = "The reply names **two** sources (see [1]), and it says why: both are <new>.\n"
UNITS = (
    *("*", "[", "<", "1", " ", "\n", ":", '"', "&", "\\", "字", "a ", "- ", "score:", "score: 4\n"),
    *("```\n", "<question>", "<think>", "[step:"),
)
STARTS = (("a", " "), ("@a", " "), ("a: ", "1-999, "), ("*" * 64, "prose "), ("score: 4", " "))


def filled(unit: str, start: str = "", length: int = LENGTH) -> str:
    """A text of this length, and at its end a sign that few patterns expect."""
    room = length - len(start) - 1
    return start + (unit * room)[:room] + "§"


HOSTILE = [*map(filled, UNITS), *(filled(unit, start) for start, unit in STARTS)]

Reader = Callable[[str], object]


def refused(text: str) -> openai.APIStatusError:
    return status_error(400, {"error": {"message": text}}, {"authorization": "Bearer key"})


def a_message(text: str) -> Mapping[str, Any]:
    rich = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    blocks = [{"type": "markdown", "text": text}, {"type": "rich_text", "elements": [rich]}]
    return {"ts": "1.0", "blocks": blocks, "attachments": [{"text": text}]}


def a_thread(text: str) -> Sequence[Message]:
    asked = {"ts": "1.0", "user": "U1", "text": text}
    answered = {"ts": "2.0", "bot_id": "B1", "thread_ts": "1.0", "text": text}
    return [to_message(asked), to_message(answered)]


def found_causes(text: str) -> object:
    async def write(_: str) -> Written:
        return Written(text, 0)

    return asyncio.run(find_causes(write, dict.fromkeys(range(5), text), [text]))


RUBRIC, SCALE = load_rubric("additive-5"), Scale(0, 5)
UNCLEAR = Unscored(reason=UnscoredReason.UNCLEAR, detail="", raw=filled("score:"))
# The doors through which words of a model or a person come in, and go out; those of features lead
# through these.
DOORS: Mapping[str, Reader] = {
    "bounded": lambda text: bounded([Turn("user", text)] * 30),
    "find_causes": found_causes,
    "find_flags": lambda text: find_flags(text, text, [Turn("user", text)], text),
    "nothing_to_judge": lambda text: nothing_to_judge(text, text),
    "parse_item": lambda text: parse_item(1, text.encode()),
    "parse_rating": lambda text: parse_rating(text, response=text),
    "parse_score_line": lambda text: parse_score_line(text, SCALE),
    "rate_offline": lambda text: rate_offline(text, text, SCALE),
    "read_messages": lambda text: read_messages(
        [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
    ),
    "read_names": lambda text: read_names(text, 100, "", 6),
    "read_points": lambda text: read_points(text, RUBRIC),
    "render_prompt": lambda text: render_prompt(RUBRIC, text, text, [Turn("user", text)], text),
    "render_second_request": lambda text: render_second_request(
        text, replace(UNCLEAR, raw=text), SCALE
    ),
    "rejected_option": lambda text: rejected_option(refused(text), ["n"]),
    "Rubric": lambda text: Rubric("hostile", text),
    "sanitize": sanitize,
    "to_judge_error": lambda text: to_judge_error(refused(text), "m", "http://localhost", text),
    "unmark": unmark,
    "words_in": words_in,
    "blocks.quotes": lambda text: quotes(text, 3_000),
    "message_text.read": lambda text: read(a_message(text)),
    "mrkdwn.clip": mrkdwn.clip,
    "mrkdwn.excerpt": lambda text: mrkdwn.excerpt(text, 3_000),
    "mrkdwn.to_plain": mrkdwn.to_plain,
    "parse_command": parse_command,
    "parse_zone": parse_zone,
    "to_exchange": lambda text: to_exchange(a_thread(text), "2.0", ["U9"], ["U1"]),
}


class SlowError(BaseException):
    """Not an Exception, which a reader may raise for what it does not understand."""


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise SlowError

    before = signal.signal(signal.SIGPROF, interrupt)
    yield
    signal.signal(signal.SIGPROF, before)


def used_s(read: Callable[[], object], at_most_s: float) -> float:
    """The processor time of a call; raises SlowError if it is more than that."""
    began_s = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, at_most_s)
    try:
        with suppress(ValueError, JudgeError):
            found = read()
            if isinstance(found, Iterator):
                deque(found, maxlen=0)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - began_s


def slow_over(read: Reader, texts: Sequence[str]) -> list[str]:
    """The beginnings of the texts over which a reader takes long, compared with a harmless one."""
    usual_s = used_s(partial(read, filled(HARMLESS, length=len(texts[0]))), 60)
    slow = []
    for text in texts:
        try:
            used_s(partial(read, text), TIMES * usual_s + FLOOR_S)
        except SlowError:
            slow.append(text[:12])
    return slow


def test_a_quadratic_reader_is_slow_and_a_linear_one_is_not() -> None:
    assert slow_over(re.compile("a*b").findall, [filled("a")]) == ["a" * 12]
    assert slow_over(re.compile("(?<!a)a*b").findall, [filled("a")]) == []


@each("name", DOORS)
def test_no_reader_takes_long_over_hostile_words(name: str) -> None:
    assert slow_over(DOORS[name], HOSTILE) == []
