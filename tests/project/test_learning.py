"""docs/example/learn.py, which learns a rubric from labels: from an export to the comparison in
docs/evaluation.md, on labels that it has not seen.
"""

import asyncio
import io
import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from bot.commands.export import export
from bot.domain.label import Label
from bot.store import Store
from bot.store.export import Selection
from bot.store.schema import labels
from judge import load_rubric
from tests.cases import delivered
from tests.judge_command import run
from tests.model_server import ModelServer

pytestmark = [
    pytest.mark.on("sqlite"),
    pytest.mark.skipif(find_spec("gepa") is None, reason="gepa is not installed"),
]

ROOT = Path(__file__).parents[2]
SECTION = (
    (ROOT / "docs" / "evaluation.md")
    .read_text(encoding="utf-8")
    .partition("## Learning from labels\n")[2]
    .partition("\n## ")[0]
)
PROGRAM = (ROOT / "docs" / "example" / "learn.py").read_text(encoding="utf-8")
LEARNT = "Give what people give."


def answer(request: dict[str, Any]) -> str:
    """A judge that gives what people give once its rubric says so; otherwise a point more.

    As the one that proposes rubrics, it finds out what the rubric lacks.
    """
    prompt = request["messages"][-1]["content"]
    if "people gave" in prompt:
        rubric = prompt.partition("```\n")[2].partition("\n```")[0]
        return f"```\n{LEARNT}\n{rubric}\n```"
    response = prompt.rpartition("<response>")[2].partition("</response>")[0]
    right = int(response.split()[1])
    return f"score: {right if prompt.startswith(LEARNT) else right + 1}\nSo it is."


async def exported(log: Store) -> list[dict[str, Any]]:
    """Forty replies in threads of their own, which people labelled blind with 0 to 3."""
    for number in range(40):
        texts = {"question": f"Question {number}?", "response": f"Answer {number % 4} of {number}."}
        case = await delivered(log, f"k{number}", message_ts=f"{number}.2", **texts)
        await log.labels.put(case, "U9", Label(number % 4, None))
    await log.database.execute(update(labels).values(is_blind=True))
    output = io.StringIO()
    await export(log.database, output, Selection())
    return [json.loads(line) for line in output.getvalue().splitlines()]


async def learn(folder: Path, server: ModelServer) -> None:
    """Runs the program, with a smaller budget, in a process of its own."""
    program = PROGRAM.replace("max_metric_calls=400", "max_metric_calls=60")
    assert program != PROGRAM
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program),
        cwd=folder,
        env=os.environ | {"OPENAI_BASE_URL": server.base_url, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()


async def test_the_program_learns_a_rubric_that_is_better_on_labels_that_it_has_not_seen(
    log: Store, model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.script(answer)
    learnt_from = list[dict[str, Any]]()
    held_out = list[dict[str, Any]]()
    for row in await exported(log):
        if row["thread"] < "8":
            learnt_from.append(row)
        else:
            held_out.append(row)
    assert min(len(learnt_from), len(held_out)) > 10
    for name, rows in (("learn", learnt_from), ("held-out", held_out)):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")

    await learn(tmp_path, model_server)

    shipped = load_rubric("additive-5").prompt.strip()
    assert (tmp_path / "learned.txt").read_text(encoding="utf-8") == f"{LEARNT}\n{shipped}"
    monkeypatch.chdir(tmp_path)
    (typed,) = re.findall(r"`judge (batch [^`]*)`", SECTION)
    server = {"OPENAI_BASE_URL": model_server.base_url}
    done = await asyncio.to_thread(run, *typed.split(), **server)
    assert "clearly closer to people's" in done.stdout
