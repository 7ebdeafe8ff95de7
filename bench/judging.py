"""What `Judge.score` adds to the bare requests: `python -m bench.judging`.

The same 1,000 items go to one stub server (50 ms latency, 100 at a time, so 0.50 s at the least), in turn through

- bare: a loop over `AsyncOpenAI().chat.completions.create`, the prompt rendered before the clock starts,
- bare aiohttp: the same with `openai.DefaultAioHttpClient`,
- judge: `Judge.score` with one rating per verdict.

Rounds alternate, so that a busy machine slows all three alike; the figures are medians over the rounds.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from statistics import median

import openai

from judge import Judge, load_rubric, render_prompt

ITEMS = 1_000
AT_ONCE = 100
LATENCY_S = 0.05
ROUNDS = 7
FRESH_STARTS = 5

_QUESTION = "Why is the sky blue? I have heard that it is because of the sea."
_RESPONSE = "Because air scatters short waves of light more than long ones; the sea has nothing to do with it. " * 6
_FIRST_VERDICT = """
import asyncio
from judge import Judge
async def main():
    async with Judge(samples=1) as judge:
        await judge.score("Why is the sky blue?", "Because air scatters blue light most.")
asyncio.run(main())
"""

Ask = Callable[[], Awaitable[object]]


@contextmanager
def stub_server(latency_s: float = LATENCY_S) -> Iterator[str]:
    """The address of a stub server in a process of its own."""
    command = [sys.executable, "-m", "bench.model_stub", str(latency_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


@asynccontextmanager
async def bare(url: str, *, aiohttp: bool) -> AsyncIterator[Ask]:
    """One request through a bare client."""
    prompt = render_prompt(load_rubric("additive-5"), _QUESTION, _RESPONSE)
    http_client = openai.DefaultAioHttpClient() if aiohttp else openai.DefaultAsyncHttpxClient()
    async with openai.AsyncOpenAI(api_key="none", base_url=url, http_client=http_client) as client:

        async def ask() -> object:
            return await client.chat.completions.create(
                model="stub",
                messages=[{"role": "user", "content": prompt}],
                temperature=0,
                max_completion_tokens=8192,
            )

        yield ask


@asynccontextmanager
async def judged(url: str) -> AsyncIterator[Ask]:
    """One verdict of one rating."""
    os.environ["OPENAI_BASE_URL"] = url
    async with Judge("stub", samples=1) as judge:
        yield lambda: judge.score(_QUESTION, _RESPONSE)


async def run(ask: Ask) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of this process, for all items."""
    items = iter(range(ITEMS))

    async def work() -> None:
        for _ in items:
            await ask()

    wall_s, cpu_s = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return time.perf_counter() - wall_s, time.process_time() - cpu_s


async def compare(url: str) -> None:
    """Prints the three ways side by side."""
    ways = {
        "bare": lambda: bare(url, aiohttp=False),
        "bare aiohttp": lambda: bare(url, aiohttp=True),
        "judge": lambda: judged(url),
    }
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            async with way() as ask:
                figures[name].append(await run(ask))
    print(f"{ITEMS:,} items, {AT_ONCE} at a time, {LATENCY_S * 1000:g} ms latency, medians of {ROUNDS} rounds")
    print(f"{'':<14}{'wall':>8}{'items/s':>10}{'CPU/item':>11}{'rate*':>8}{'CPU*':>8}")
    base_wall_s, base_cpu_s = map(median, zip(*figures["bare aiohttp"], strict=True))
    for name, rounds in figures.items():
        wall_s, cpu_s = map(median, zip(*rounds, strict=True))
        print(
            f"{name:<14}{wall_s:>6.2f} s{ITEMS / wall_s:>10,.0f}{cpu_s / ITEMS * 1000:>8.2f} ms"
            f"{base_wall_s / wall_s:>8.2f}{cpu_s / base_cpu_s:>8.2f}"
        )
    print("* as a ratio to bare aiohttp; targets for judge: rate at least 0.90, CPU at most 1.20")


def time_first_verdict(url: str) -> None:
    """Prints how long a fresh process takes for its first verdict, interpreter, imports and latency included."""
    took_s = []
    for _ in range(FRESH_STARTS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", _FIRST_VERDICT], env=os.environ | {"OPENAI_BASE_URL": url}, check=True)
        took_s.append(time.perf_counter() - began)
    print(f"first verdict in a fresh process: {median(took_s):.2f} s (median of {FRESH_STARTS}; target at most 0.70)")


if __name__ == "__main__":
    with stub_server() as url:
        asyncio.run(compare(url))
        time_first_verdict(url)
