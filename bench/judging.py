"""What `Judge.score` costs compared with the bare client: `python -m bench.judging`.

The same 1,000 items go to one stub server (50 ms latency, 100 at a time, so at least 0.50 s), in
turn through

- bare: a loop over `chat.completions.create` of the client on aiohttp, with the prompt rendered
  beforehand,
- judge: `Judge.score` with one rating per verdict,
- untyped: only the client's request method without types, which `Judge` uses: the limit for
  `Judge`,
- aiohttp: the same bytes without the client, and so without its authentication, time-outs and error
  classes,
- decision: `Judge.score` with ask="decision", and bare: `decisions.create` of the client, which it
  is compared with.

Rounds alternate, and each is compared with the bare one beside it, so that a busy machine slows
both. The figures are medians over the rounds, with the worst one. Then the first verdict of a new
process is compared with the first answer through the bare client.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from statistics import median
from timeit import repeat
from typing import Any

import aiohttp
import httpx2
import openai

from bench.model_stub import ANSWER
from judge import DEFAULT_MODEL, Judge, load_rubric, nothing_to_judge, parse_rating, render_prompt
from judge.scoring.attacks import find_flags
from judge.scoring.decision import to_questions
from judge.scoring.model.completion import cost_of, to_completion
from judge.scoring.prompt import Texts, render_messages
from judge.scoring.ratings import combine

ITEMS = 1_000
AT_ONCE = 100
LATENCY_S = 0.05
ROUNDS = 7
FRESH_STARTS = 9

_QUESTION = "Why is the sky blue? I have heard that it is because of the sea."
_RESPONSE = (
    "Because air scatters short waves of light more than long ones; the sea has nothing to "
    "do with it. "
) * 6
REQUEST: dict[str, Any] = {
    "model": "stub",
    "messages": [
        {"role": "user", "content": render_prompt(load_rubric("additive-5"), _QUESTION, _RESPONSE)}
    ],
    "temperature": 0,
    "max_completion_tokens": 1024,
}
_FIRST_VERDICT = """
import asyncio
from judge import Judge
async def main():
    async with Judge("stub", samples=1) as judge:
        await judge.score("Why is the sky blue?", "Because air scatters blue light most.")
asyncio.run(main())
"""
_FIRST_ANSWER = """
import asyncio, openai
async def main():
    async with openai.AsyncOpenAI(api_key="none", http_client=openai.DefaultAioHttpClient()) as client:
        await client.chat.completions.create(model="stub", messages=[{"role": "user", "content": "Why?"}])
asyncio.run(main())
"""

Ask = Callable[[], Awaitable[object]]


@contextmanager
def stub_server(latency_s: float = LATENCY_S) -> Iterator[str]:
    """The address of a stub server in its own process."""
    command = [sys.executable, "-m", "bench.model_stub", str(latency_s)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


@asynccontextmanager
async def bare(url: str) -> AsyncIterator[Ask]:
    """One request through the bare client, as in its README."""
    async with bare_client(url) as client:
        yield lambda: client.chat.completions.create(**REQUEST)


@asynccontextmanager
async def untyped(url: str) -> AsyncIterator[Ask]:
    """The same through the client's request method without types."""
    async with bare_client(url) as client:

        async def ask() -> object:
            answer = await client.post("/chat/completions", cast_to=httpx2.Response, body=REQUEST)
            return answer.json()

        yield ask


@asynccontextmanager
async def without_client(url: str) -> AsyncIterator[Ask]:
    """The same through aiohttp alone."""
    async with aiohttp.ClientSession() as session:

        async def ask() -> object:
            async with session.post(f"{url}/chat/completions", json=REQUEST) as answer:
                return await answer.json()

        yield ask


def bare_client(url: str) -> openai.AsyncOpenAI:
    """The bare client, on aiohttp."""
    return openai.AsyncOpenAI(
        api_key="none", base_url=url, http_client=openai.DefaultAioHttpClient()
    )


@asynccontextmanager
async def bare_decision(url: str) -> AsyncIterator[Ask]:
    """One decision through the bare client."""
    rubric = load_rubric("additive-5")
    asked: Any = {
        "input": render_messages(Texts(rubric, _QUESTION, _RESPONSE)),
        "questions": to_questions(rubric),
    }
    async with bare_client(url) as client:
        yield lambda: client.decisions.create(model="stub", **asked)


@asynccontextmanager
async def judged(url: str, ask: str = "text") -> AsyncIterator[Ask]:
    """One verdict with one rating."""
    os.environ["OPENAI_BASE_URL"] = url
    async with Judge("stub", samples=1, ask=ask) as judge:
        yield lambda: judge.score(_QUESTION, _RESPONSE)


async def run(ask: Ask) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of this process, for all items."""
    items = iter(range(ITEMS))

    async def work() -> None:
        for _ in items:
            await ask()

    wall_s = time.perf_counter()
    cpu_s = time.process_time()
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return time.perf_counter() - wall_s, time.process_time() - cpu_s


async def compare(url: str) -> None:
    """Compares the ways and prints a line for each."""
    ways = {"bare": bare, "judge": judged, "untyped": untyped, "aiohttp": without_client}
    ways |= {"bare decision": bare_decision, "decision": partial(judged, ask="decision")}
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            async with way(url) as ask:
                rounds[name].append(await run(ask))
    print(
        f"{ITEMS:,} items, {AT_ONCE} at a time, {LATENCY_S * 1000:g} ms latency, medians "
        f"of {ROUNDS} rounds"
    )
    print(f"{'':<14}{'items/s':>8}{'CPU/item':>11}{'wall* (worst)':>15}{'CPU* (worst)':>14}")
    for name, figures in rounds.items():
        bare_wall_s, bare_cpu_s = zip(
            *rounds["bare decision" if "decision" in name else "bare"], strict=True
        )
        wall_s, cpu_s = zip(*figures, strict=True)
        print(
            f"{name:<14}{ITEMS / median(wall_s):>8,.0f}{median(cpu_s) / ITEMS * 1000:>8.2f} ms"
            f"{ratio(wall_s, bare_wall_s):>15}{ratio(cpu_s, bare_cpu_s):>14}"
        )
    print("* as a ratio to the bare one of the same round; targets for judge: at most 0.90 both")


def ratio(figures: Sequence[float], bases: Sequence[float]) -> str:
    """The median and the worst of the figures' ratios to those of the same rounds."""
    ratios = [figure / base for figure, base in zip(figures, bases, strict=True)]
    return f"{median(ratios):.2f} ({max(ratios):.2f})"


def time_first_verdict(url: str) -> None:
    """Prints how long a new process takes to its first verdict, including interpreter, imports and
    latency.
    """
    bare_s = []
    judge_s = []
    for _ in range(FRESH_STARTS):
        bare_s.append(time_program(_FIRST_ANSWER, url))
        judge_s.append(time_program(_FIRST_VERDICT, url))
    print(
        f"first verdict in a fresh process: {median(judge_s):.2f} s, as a ratio to a bare first "
        f"answer {ratio(judge_s, bare_s)}; target at most 1.10"
    )


def time_program(program: str, url: str) -> float:
    """Wall seconds of a new process."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"OPENAI_BASE_URL": url}, check=True
    )
    return time.perf_counter() - began


def time_parts() -> None:
    """Prints the time for each part of a verdict besides its request: the fastest of many rounds."""
    rubric = load_rubric("additive-5")
    answer = json.loads(ANSWER) | {"model": DEFAULT_MODEL}
    text = answer["choices"][0]["message"]["content"]
    rating = parse_rating(text)
    parts: dict[str, Callable[[], object]] = {
        "whether there is anything to judge": lambda: nothing_to_judge(_QUESTION, _RESPONSE),
        "the prompt": lambda: render_prompt(rubric, _QUESTION, _RESPONSE),
        "the answer's JSON": lambda: to_completion(json.loads(ANSWER)),
        "reading the score": lambda: parse_rating(text),
        "joining the ratings": lambda: combine([rating], model="m", rubric=rubric),
        "flags": lambda: find_flags(_QUESTION, _RESPONSE),
        "the price (public servers)": lambda: cost_of("https://api.openai.com/v1/", answer),
    }
    for name, part in parts.items():
        part()
        print(f"{name:<36}{min(repeat(part, number=200, repeat=20)) / 200 * 1e6:>4.0f} us")


if __name__ == "__main__":
    with stub_server() as url:
        asyncio.run(compare(url))
        time_first_verdict(url)
    time_parts()
