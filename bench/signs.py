"""How often a model reads right what was written after an answer: `python -m bench.signs MODEL [FILE]`,
with the server that OPENAI_BASE_URL names.

Each row of the file is a thread with the signs that people see in it, and its kind. For each sign
it prints how many threads show it, how many of these were read so, and how many were read so
without showing it. Unclear answers are neither.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge import Judge, JudgeError, Turn
from judge.evaluation.signs import Signs, find_signs
from judge.scoring.judging import Written

THREADS = Path(__file__).parents[1] / "tests" / "data" / "signs.jsonl"
SIGNS = ("confirmed", "thanked", "contested", "handed_over")


async def main(model: str, rows: Sequence[Mapping[str, Any]]) -> None:
    judge = Judge(model, samples=1, timeout_s=300)
    answers = [await _read(judge, row) for row in rows]
    read = [(row, signs) for row, signs in zip(rows, answers, strict=True) if signs]
    print(f"{judge.model}: {len(rows)} threads, {len(rows) - len(read)} unclear")
    for sign in SIGNS:
        _print_sign(sign, read)
    wrong = Counter(row["kind"] for row, signs in read if _shown(signs) != set(row["signs"]))
    kinds = Counter(row["kind"] for row in rows)
    print("\n".join(f"{kind}: {wrong[kind]} of {number} differ" for kind, number in kinds.items()))


async def _read(judge: Judge, row: Mapping[str, Any]) -> Signs | None:
    async def write(prompt: str) -> Written:
        answer = await judge.write(prompt)
        print(json.dumps({**row, "answer": answer.text}), file=sys.stderr, flush=True)
        return answer

    thread = [Turn(role, text) for role, text in row["thread"]]
    try:
        return (await find_signs(write, thread)).signs
    except JudgeError as exc:
        print(exc, file=sys.stderr)
        return None


def _print_sign(sign: str, read: Sequence[tuple[Mapping[str, Any], Signs]]) -> None:
    shown = [getattr(signs, sign) for row, signs in read if sign in row["signs"]]
    others = [getattr(signs, sign) for row, signs in read if sign not in row["signs"]]
    print(f"{sign}: {sum(shown)} of {len(shown)} found; {sum(others)} of {len(others)} others")


def _shown(signs: Signs) -> set[str]:
    return {sign for sign in SIGNS if getattr(signs, sign)}


if __name__ == "__main__":
    path = Path(sys.argv[2]) if sys.argv[2:] else THREADS
    threads = path.read_text(encoding="utf-8").splitlines()
    asyncio.run(main(sys.argv[1], [json.loads(line) for line in threads]))
