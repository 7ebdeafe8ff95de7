"""`judge align`: learns from people's labels how to score."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.cli import options
from judge.cli.options import Reports
from judge.cli.progress import run_interruptibly, show_progress
from judge.errors import JudgeError, SetupError
from judge.rows.files import replacing

if TYPE_CHECKING:
    from judge.evaluation.align import Alignment, Asker
    from judge.scoring.judging import Judge

_GO_ON = "run the same command to continue."


@options.makes_judge
def align(
    file: Annotated[Path, typer.Argument(help="JSONL or CSV with prompt, response, people's label, maybe a reason.")],
    label: options.Label,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file for the rubric, if it is clearly better.")],
    make: "Callable[..., Judge]",
    scale: options.LabelScale = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="WAY", help="calibration, examples or rubric; repeatable.", show_default="all in turn"),
    ] = None,
    max_requests: Annotated[int, typer.Option(min=1, help="Verdicts and proposals to ask for, at most.")] = 400,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens to use, at most.")] = 2_000_000,
    concurrency: options.Concurrency = 8,
    as_json: options.AsJson = False,
) -> None:
    """Make the judge learn from labels, and test it on others.

    Two fifths of the labels, by thread, are for learning. A change is tried on the others, and written only if it is
    clearly better. Run it again to continue. Exit code 0: better, 1: not clearly better, 2: error, 130: interrupted.
    """
    from judge.cli.align_report import print_alignment, to_dict
    from judge.evaluation import align as aligning
    from judge.evaluation.align import Way
    from judge.evaluation.align.files import FileMemory, read_labelled
    from judge.scoring.offline import OFFLINE

    if output.exists():
        raise SetupError(f"{output} exists; choose another output, or delete it.")
    if not output.parent.is_dir():
        raise SetupError(f"{output}: there is no folder {output.parent}.")
    judge = make()
    try:
        # The offline rater reads no rubric.
        ways = [Way(name) for name in by or ([Way.CALIBRATION] if judge.model == OFFLINE else Way)]
    except ValueError as exc:
        raise SetupError(f"--by {' '.join(by or [])}: name calibration, examples or rubric.") from exc
    found = read_labelled(file, label, judge, scale)
    Reports(found.problems)
    if why := aligning.obstacle(found.cases):
        raise SetupError(f"{file}: {why}")
    with FileMemory(file.with_name(f"{file.stem}.align.jsonl")) as memory:
        # The offline rater makes no requests.
        budget = aligning.Budget(len(found.cases) if judge.model == OFFLINE else max_requests, max_tokens)
        asker = aligning.Asker(judge.by, memory, budget, known=found.known, concurrency=concurrency)
        came = _run_to_end(judge, aligning.align(found.cases, judge.rubric, asker, ways), asker, max_requests)
    Reports(filter(None, [memory.trouble]))
    if came.better:
        with replacing(output, f"{output}: cannot write it ({{reason}}).") as written:
            written.write(came.better.rubric.prompt.encode())
    if as_json:
        typer.echo(json.dumps(to_dict(came, asker), ensure_ascii=False))
    else:
        print_alignment(came, asker, found.cases, judge.rubric, output)
    raise typer.Exit(0 if came.better else 1)


def _run_to_end(
    judge: "Judge", call: Coroutine[Any, Any, "Alignment"], asker: "Asker", max_requests: int
) -> "Alignment":
    """The alignment. If it is interrupted or stopped, the command ends here and says how many requests it has made."""
    progress = partial(show_progress, lambda: asker.requests, lambda: max_requests, "requests")
    try:
        return asyncio.run(run_interruptibly(judge, call, progress))
    except (KeyboardInterrupt, asyncio.CancelledError):
        typer.echo(f"Interrupted after {asker.requests:,} requests; {_GO_ON}", err=True)
        raise typer.Exit(130) from None
    except SetupError:  # no request was made
        raise
    except JudgeError as exc:
        raise JudgeError(f"{exc} Stopped after {asker.requests:,} requests; {_GO_ON}") from exc
