"""`judge pairs`, `judge causes`, `judge topics` and `judge view`: what is made of rows."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from judge.cli import options
from judge.cli.options import Reports, say, to_summary
from judge.errors import SetupError
from judge.rows.files import Format, encode, refuse_foreign, replacing
from judge.scoring.numbers import number_of

if TYPE_CHECKING:
    from judge.evaluation.naming import Decide, Write
    from judge.evaluation.view.replies import Reply
    from judge.rows.row_file import Row, RowFile
    from judge.scoring.judging import Judge

Texts = TypeVar("Texts")
Found = TypeVar("Found")


Scored = Annotated[Path, typer.Argument(metavar="SCORED", help="JSONL as 'judge batch' writes it.")]
WithCauses = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Also write the rows here, the low ones with their 'cause'."
    ),
]
KnownCauses = Annotated[
    list[str] | None,
    typer.Option("--known", metavar="NAME", help="A cause to offer first; may be repeated."),
]


def pairs(
    source: Scored,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file for the pairs; it is replaced.")
    ],
) -> None:
    """Pair each prompt's best response with its worst.

    Rows belong together by prompt_id, or by prompt. Ties and unscored rows are left out and
    counted. Exit code 0: done, 1: some lines could not be read, 2: error.
    """
    from judge.rows.exports import choose_format, make_pairs
    from judge.rows.row_file import RowFile

    if choose_format(output) is not Format.JSONL:
        raise SetupError(f"{output}: pairs are written as JSONL; end the name in .jsonl.")
    options.refuse_same_file(source, output, "the pairs would be written over the scored rows")
    refuse_foreign(output, b"prompt_id", "a file of pairs", "-o")
    counts = Counter[str]()
    file = RowFile.at(source)
    with replacing(output) as written:
        written.writelines(f"{pair}\n".encode() for pair in make_pairs(file, counts))
    Reports(file.problems)
    left_out = (
        f"Prompts left out: {counts['ties']:,} for a tie, {counts['alone']:,} with one scored "
        f"response. Lines left out: {counts['unscored']:,} unscored, {len(file.problems):,} "
        "skipped."
    )
    say(to_summary(f"Pairs: {counts['pairs']:,}, in {output}.", left_out))
    raise typer.Exit(1 if file.problems else 0)


@partial(options.makes_judge, names=("model", "ask", "timeout_s"))
def causes(
    source: Scored,
    output: WithCauses = None,
    known: KnownCauses = None,
    *,
    make: "partial[Judge]",
    rubric: options.RubricFile = None,
) -> None:
    """Sort the reasons of low scores into at most five causes.

    One request: the model names the causes, the counts are ours. With --ask decision, one more
    chooses among --known. Exit code 0: done, 1: some lines could not be read, 2: error.
    """
    from judge.evaluation.causes import MOST, find_causes, read_low

    _check_output(output, source, "cause")
    file, replies, reasons = read_low(source, rubric)
    Reports(file.problems)

    found = asyncio.run(_ask(make(), find_causes, reasons, known or ()))
    if output:
        cause_of = {line: each.name for each in found.counts for line in each.replies}
        _write_rows(output, file, "cause", lambda row: cause_of.get(row.line))
    say(f"Low: {len(reasons):,} of {number_of(replies, 'scored reply', 'scored replies')}.")
    for each in found.counts:
        say(f"{len(each.replies):>4}  {each.name} ({_where(each.replies)})")
    if found.left_out:
        say(f"Of {len(reasons):,} low replies, the last {MOST} were sorted.")
    raise typer.Exit(1 if file.problems else 0)


def _check_output(output: Path | None, source: Path, name: str) -> None:
    options.refuse_same_file(source, output, "the rows would be written over themselves")
    if output:
        refuse_foreign(output, f'{{"{name}": '.encode(), f"a file of rows with their {name}", "-o")


def _write_rows(
    output: Path, file: "RowFile", name: str, value_of: "Callable[[Row], str | None]"
) -> None:
    """Writes the rows with one more field; it is the first, so that the file is known as ours."""
    with replacing(output) as written:
        for row in file.rows():
            fields = {name: None} | dict(row.fields) | {name: value_of(row)}
            written.write(f"{encode(fields)}\n".encode())


async def _ask(
    judge: "Judge",
    find: "Callable[[Write, Texts, Sequence[str], Decide | None], Awaitable[Found]]",
    texts: Texts,
    known: Sequence[str],
) -> Found:
    """What the judge's model finds in texts."""
    async with judge:
        return await find(judge.write, texts, known, judge.decide if judge.decides else None)


def _where(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:8]))
    more = lines[8:]
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{', …' if more else ''}"


@partial(options.makes_judge, names=("model", "ask", "timeout_s"))
def topics(
    source: Annotated[
        Path, typer.Argument(metavar="ROWS", help="JSONL or CSV with questions, scored or not.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write the rows here, with their 'topic'."),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option("--known", metavar="NAME", help="A topic to keep; may be repeated."),
    ] = None,
    *,
    make: "partial[Judge]",
    rubric: options.RubricFile = None,
) -> None:
    """Sort questions by topic, and show how each is scored.

    The model names at most ten topics, beside --known only where ten questions fit none, and sorts
    fifteen questions a request; the counts are ours. With --ask decision it chooses. Exit code 0:
    done, 1: some lines could not be read or questions not sorted, 2: error.
    """
    from judge.evaluation.topics import find_topics
    from judge.evaluation.view.replies import question_of

    _check_output(output, source, "topic")
    file, replies = _read_replies(source, rubric)
    questions = [reply.question for reply in replies if reply.question]
    Reports(file.problems)

    topic_of = asyncio.run(_ask(make(), find_topics, questions, known or ()))
    if output:
        _write_rows(output, file, "topic", lambda row: topic_of.get(question_of(row) or ""))
    _say_topics(replies, topic_of)
    is_sorted = all(question in topic_of for question in questions)
    if not is_sorted:
        say(
            "Some questions are not sorted: a request failed, or its answer left them out or named "
            "a topic that is not in the list."
        )
    raise typer.Exit(1 if file.problems or not is_sorted else 0)


def _read_replies(source: Path, rubric: Path | None) -> "tuple[RowFile, Sequence[Reply]]":
    from judge.evaluation.view.replies import Reader
    from judge.rows.row_file import RowFile

    file = RowFile.at(source)
    reader = Reader(file.problems, label="", rubric=rubric)
    for row in file.rows():
        reader.add(row.line, row.fields)
    file.require()
    return file, reader.finish().replies


def _say_topics(replies: "Sequence[Reply]", topic_of: Mapping[str, str]) -> None:
    """A table for each judge version."""
    from judge.evaluation.topics import TITLES
    from judge.evaluation.view import by_version, to_topics

    versions = by_version(replies)
    for version, own in versions.items():
        if len(versions) > 1:
            say(f"{version.name}:")
        topics = to_topics(own, (topic_of.get(reply.question or "") for reply in own))
        say("\n".join(_aligned([TITLES, *(topic.cells for topic in topics)])))


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as lines, with the first column to the left and the others to the right."""
    first, *others = ([len(cell) for cell in column] for column in zip(*rows, strict=True))
    for name, *cells in rows:
        figures = (cell.rjust(max(lengths)) for cell, lengths in zip(cells, others, strict=True))
        yield "  ".join([name.ljust(max(first)), *figures])


def view(
    file: Annotated[Path, typer.Argument(help="JSONL from 'judge batch' or 'judge-bot export'.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The page; by default beside the file, ending in .html."
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="The field with people's labels; 'human' if the rows have it."
        ),
    ] = None,
    scale: options.LabelScale = None,
    rubric: options.RubricFile = None,
    limit: Annotated[
        int | None, typer.Option(min=1, max=20_000, help="Only the last rows of the file.")
    ] = None,
) -> None:
    """Make an HTML page of scored responses.

    It works offline. Exit code 0: all lines used, 1: some could not be used, 2: error.
    """
    from judge.evaluation.view import save_page
    from judge.evaluation.view.replies import read_replies

    found = read_replies(file, label, scale, rubric, limit)
    page = output or file.with_suffix(".html")
    size = save_page(page, file.name, found)
    Reports(found.problems)
    say(to_sentence(page, len(found.replies), size))
    raise typer.Exit(1 if found.problems else 0)


def to_sentence(page: Path, replies: int, size: int) -> str:
    return (
        f"{page}: {number_of(replies, 'reply', 'replies')}, {max(size / 1e6, 0.1):,.1f} MB; "
        "open it in a browser."
    )
