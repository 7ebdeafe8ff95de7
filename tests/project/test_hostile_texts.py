"""Whatever reads the words of a model or a person takes time linear in them.

All cases share one event loop: a pattern that goes back over its text for each of its characters
stops the app for seconds, and Slack gets no acknowledgement. Processor time is measured, so that a
busy machine changes nothing, and a call that is over its limit is interrupted.
"""

import ast
import asyncio
import importlib
import inspect
import pkgutil
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import openai
import pytest

from bot.domain.week import Schedule
from bot.slack.messages import Message, to_message
from judge import Turn, Unscored, load_rubric
from judge.scoring.judging import Written
from judge.scoring.ratings import UnscoredReason
from judge.scoring.rubric import Scale

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

# A public function that takes one of these, as a string, reads a model's or a person's words.
WORDS = {"answer", "completion", "line", "packed_text", "question", "response", "said", "text"}
WORDS |= {"words"}
# What its other parameters get.
GIVEN: Mapping[str, object] = {
    "blocks": [],
    "count": 100,
    "end": 1,
    "first": Unscored(reason=UnscoredReason.UNCLEAR, detail="", raw=filled("score:")),
    "kind": "step",
    "known": "",
    "label": "Go",
    "limit": 3_000,
    "most_words": 6,
    "now": datetime(2026, 11, 29, tzinfo=UTC),
    "own_id": "U1",
    "pressed": "",
    "prompt": filled("score:"),
    "questions": [{"name": "1", "type": "predicate"}],
    "room": 1_000,
    "rubric": load_rubric("additive-5"),
    "scale": Scale(0, 5),
    "schedule": Schedule.parse("monday", "09:00", "UTC"),
    "score": 4,
    "start": 0,
    "state": None,
    "turns": [Turn("user", filled("*"))],
    "what": "",
    "width": 80,
}


def refused(text: str) -> openai.APIStatusError:
    request = httpx2.Request("POST", "http://localhost", headers={"authorization": "Bearer key"})
    body = {"error": {"message": text}}
    return openai.APIStatusError(text, response=httpx2.Response(400, request=request), body=body)


def a_message(text: str) -> Mapping[str, Any]:
    rich = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    blocks = [{"type": "markdown", "text": text}, {"type": "rich_text", "elements": [rich]}]
    return {"ts": "1.0", "blocks": blocks, "attachments": [{"text": text}]}


def a_thread(text: str) -> Sequence[Message]:
    asked = {"ts": "1.0", "user": "U1", "text": text}
    answered = {"ts": "2.0", "bot_id": "B1", "thread_ts": "1.0", "text": text}
    return [to_message(asked), to_message(answered)]


async def found_causes(find_causes: Callable[..., Any], text: str) -> object:
    async def write(_: str) -> Written:
        return Written(text, 0)

    return await find_causes(write, dict.fromkeys(range(5), text), [text])


# How those are called that take no string, or need one of a certain form.
BY_HAND: Mapping[str, Callable[[Any, str], object]] = {
    "judge.evaluation.causes.find_causes": lambda read, text: asyncio.run(found_causes(read, text)),
    "judge.rows.messages.find_prompt": lambda read, text: read([{"role": "user", "content": text}]),
    "judge.rows.messages.read_messages": lambda read, text: read(
        [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
    ),
    "judge.rows.messages.read_turns": lambda read, text: read(text),
    "judge.rows.row_file.parse_item": lambda read, text: read(1, text.encode()),
    "judge.scoring.answers.is_quoted": lambda read, text: read("score: 1", text),
    "judge.scoring.conversation.bounded": lambda read, text: read([Turn("user", text)] * 30),
    "judge.scoring.model.failures.quote": lambda read, text: read(refused(text), text),
    "judge.scoring.model.failures.rejected_option": lambda read, text: read(refused(text), ["n"]),
    "judge.scoring.model.failures.to_judge_error": lambda read, text: read(
        refused(text), "model", "http://localhost", text
    ),
    "judge.scoring.prompt.first_justification": lambda read, text: read(
        Unscored(reason=UnscoredReason.UNCLEAR, detail="", raw=text)
    ),
    "judge.scoring.rubric.Rubric": lambda read, text: read("hostile", text),
    "bot.features.watch.grammar.parse_watch": lambda read, text: read(f"@{text}"),
    "bot.pipeline.exchange.to_exchange": lambda read, text: read(
        a_thread(text), "2.0", ["U9"], ["U1"]
    ),
    "bot.slack.messages.to_message": lambda read, text: read({"ts": "1.0", "text": text}),
    "bot.slack.message_text.read": lambda read, text: read(a_message(text)),
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
        with suppress(Exception):
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


# The three integrations' libraries take 13 s to import.
APART = re.compile(r"migrations|__main__|integrations\.(?:inspect|mlflow|pydantic_evals)$")


def modules() -> Iterator[ModuleType]:
    for package in ("judge", "bot"):
        for each in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not APART.search(each.name):
                yield importlib.import_module(each.name)


def readers_of(module: ModuleType) -> Iterator[tuple[str, Reader]]:
    prefix = f"{module.__name__}."
    names = [name.removeprefix(prefix) for name in BY_HAND if name.startswith(prefix)]
    for name in names:
        if "." not in name:
            yield name, partial(BY_HAND[prefix + name], getattr(module, name))
    for name, function in inspect.getmembers(module, inspect.isfunction):
        is_public = function.__module__ == module.__name__ and not name.startswith("_")
        if is_public and name not in names and not inspect.iscoroutinefunction(function):
            parameters = inspect.signature(function).parameters.values()
            if Path in {each.annotation for each in parameters}:  # it writes words of ours
                continue
            words = [
                each.name for each in parameters if each.name in WORDS and each.annotation is str
            ]
            others = [
                each.name
                for each in parameters
                if each.name not in words
                and each.default is each.empty
                and each.kind is not each.VAR_POSITIONAL
            ]
            unknown = [each for each in others if each not in GIVEN]
            assert not (words and unknown), f"{prefix}{name}: what do {unknown} get? See GIVEN."
            if words:
                yield name, partial(call, function, words, {each: GIVEN[each] for each in others})


def call(
    function: Callable[..., object], words: Sequence[str], others: Mapping[str, object], text: str
) -> object:
    return function(**dict.fromkeys(words, text), **others)


def test_no_reader_takes_long_over_hostile_words() -> None:
    slow = {
        f"{module.__name__}.{name}": found
        for module in modules()
        for name, read in readers_of(module)
        if (found := slow_over(read, HOSTILE))
    }
    assert slow == {}


# Patterns that see only so many characters of a text.
SEES: Mapping[str, int] = {
    "judge.scoring.doubts._BY_JUDGE": 200,
    "judge.scoring.reading._LABEL": 60,
    "judge.scoring.reading._SENTENCE_LABEL": 60,
}
METHODS = {"search", "match", "fullmatch", "sub", "split", "findall", "finditer"}


def patterns_of(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str], set[str]]]:
    """A module's patterns with their names, or lines, and the methods by which they are used."""
    source = inspect.getsource(module)
    for name, value in vars(module).items():
        for pattern in flat(value):
            used = {*re.findall(rf"\b{name}\.(\w+)\(", source)} & METHODS
            yield name, pattern, used or {"search", "fullmatch"}
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), method), [ast.Constant(str(pattern)), *_]):
                flags = re.findall(r"\bre\.([A-Z]+)\b", ast.unparse(node))
                compiled = re.compile(pattern, sum(getattr(re, each) for each in flags))
                yield f"line {node.lineno}", compiled, {method} & METHODS


def flat(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        yield from flat((*value.keys(), *value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from flat(each)


def hostile_to(pattern: re.Pattern[str], length: int) -> Sequence[str]:
    """Texts of each sign and each word that a pattern knows, alone and after a letter."""
    signs = {each for each in pattern.pattern if not each.isalnum()}
    words = {*re.findall(r"[^\W\d_]{2,}", pattern.pattern)}
    units = [" ", "\n", "1", "a", "a ", *sorted(signs), *sorted(words)[:12]]
    return [filled(unit, start, length) for unit in dict.fromkeys(units) for start in ("", "a")]


def reading_by(method: str, pattern: re.Pattern[str], text: str) -> object:
    use = getattr(pattern, method)
    return use("", text) if method == "sub" else use(text)


def test_no_pattern_takes_long_over_hostile_words() -> None:
    slow = {}
    for module in modules():
        for name, pattern, methods in patterns_of(module):
            where = f"{module.__name__}.{name}"
            texts = hostile_to(pattern, SEES.get(where, LENGTH))
            for method in methods:
                if found := slow_over(partial(reading_by, method, pattern), texts):
                    slow[f"{where}.{method}"] = found
    assert slow == {}
