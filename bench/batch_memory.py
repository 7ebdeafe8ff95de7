"""Time and memory of a long batch: `python bench/batch_memory.py [ROWS]` (by default a million).

Rows of mixed length and quality, four to a prompt, go through `judge batch` and `judge pairs` with
the offline rater: the overhead of `judge batch` shows best if the model takes no time.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

JUDGE = Path(sys.executable).with_name("judge")
TOPIC = (
    "sky",
    "blue",
    "light",
    "air",
    "molecule",
    "boil",
    "egg",
    "minute",
    "water",
    "heat",
    "salt",
    "judge",
)
WORDS = (
    *TOPIC,
    "the",
    "is",
    "and",
    "in",
    "of",
    "a",
    "to",
    "by",
    "for",
    "with",
    "because",
    "so",
    "then",
    "first",
    "cold",
)


def make_rows(count: int) -> Iterator[str]:
    chance = random.Random(1)
    for number in range(count):
        if number % 4 == 0:
            prompt = f"Why {' '.join(chance.choices(TOPIC, k=6))} ({number // 4})?"
        sentences = [
            " ".join(chance.choices(WORDS, k=chance.randint(6, 18)))
            for _ in range(chance.randint(0, 8))
        ]
        yield (
            json.dumps(
                {"prompt_id": number // 4, "prompt": prompt, "completion": ". ".join(sentences)}
            )
            + "\n"
        )


def measure(title: str, *arguments: str | Path) -> None:
    began = time.monotonic()
    process = subprocess.Popen(
        [JUDGE, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, usage = os.wait4(process.pid, 0)
    took_s = time.monotonic() - began
    cpu_s = usage.ru_utime + usage.ru_stime
    print(
        f"{title:<28}{took_s:>7.1f} s{cpu_s:>7.1f} s CPU{usage.ru_maxrss / 1024:>7.0f} MiB",
        flush=True,
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.jsonl"
        scored = Path(folder) / "scored.jsonl"
        with raw.open("w") as file:
            file.writelines(make_rows(count))
        batch = ("batch", raw, "--model", "offline", "-o")
        print(f"{count:,} rows, {raw.stat().st_size / 2**20:,.0f} MiB")
        measure("judge batch", *batch, scored)
        measure("judge batch, all there", *batch, scored)
        measure("judge batch, CSV of it", *batch, scored.with_suffix(".csv"))
        measure("judge batch, Parquet of it", *batch, scored.with_suffix(".parquet"))
        measure("judge pairs", "pairs", scored, "-o", Path(folder) / "pairs.jsonl")


if __name__ == "__main__":
    main()
