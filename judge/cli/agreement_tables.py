"""The report of `judge agreement` as tables for a terminal, and as plain text."""

from collections.abc import Iterable, Iterator
from math import isnan
from textwrap import fill
from typing import TextIO

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from judge.cli.options import to_printable
from judge.evaluation.agreement.measures import MIN_PROMPTS, Estimate, confusion
from judge.evaluation.agreement.report import Comparison, Difference, Report
from judge.evaluation.agreement.scores import Columns
from judge.scoring.numbers import number_of

_MOST_LEVELS = 11
_MOST_PROBLEMS = 10

_NAMES = {
    "exact_match": "Exact match",
    "within_one": "Within one",
    "quadratic_weighted_kappa": "Quadratic weighted kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "spearman": "Spearman",
    "kendall_tau_b": "Kendall tau-b",
    "mean_error": "Mean error",
    "pairwise_accuracy": "Pairwise accuracy",
    "pairwise_ties": "  tied by the judge",
    "pairwise_reversals": "  the other way round",
    "top_best": "{high}-best",
}
_PAIRS = {"pairwise_accuracy", "pairwise_ties", "pairwise_reversals"}
_SHARES = _PAIRS | {"exact_match", "within_one", "top_best"}


def print_report(report: Report, columns: Columns, file: TextIO | None = None) -> None:
    """Prints the report, 80 columns wide if the output is not a terminal."""
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 80
    for comparison in report.with_people:
        title = Text(to_printable(f"{comparison.judge} against people ({columns.label})"), "bold")
        more = [comparison.narrowing] if comparison.narrowing else []
        lines = [
            fill(line, console.width)
            for line in (_coverage(comparison), comparison.verdict or "", *more)
        ]
        head = Text("\n").join([title, *map(Text, lines)])
        _print_parts(console, head, _measures(comparison), _confusion(comparison))
    if report.between_judges:
        _print_parts(console, Text("Judge against judge", "bold"), _between(report.between_judges))
    if report.by_group:
        _print_parts(console, Text(to_printable(f"By {columns.group}"), "bold"), *_groups(report))
    for each in report.differences:
        title = Text(to_printable(f"{each.judge} less {each.other}, both against people"), "bold")
        over = (
            f"{number_of(each.responses, 'response')} to {number_of(each.prompts, 'prompt')} "
            "that both scored"
        )
        _print_parts(
            console,
            Text("\n").join([title, Text(over)]),
            _difference(each, report.scores.scale.high),
        )
    for note in _notes(report, columns):
        console.print(fill(to_printable(note), console.width))


def _print_parts(console: Console, *parts: RenderableType) -> None:
    for part in parts:
        console.print(part)
        console.print()


def _coverage(comparison: Comparison) -> str:
    sample = comparison.sample
    parts = [
        f"{number_of(len(sample.scores), 'response')} to {number_of(sample.n_prompts, 'prompt')}"
    ]
    if comparison.unscored:
        parts.append(f"{comparison.unscored:,} more without a score")
    if sample.label_ties:
        parts.append(f"{number_of(sample.label_ties, 'pair')} with equal labels left out")
    return "; ".join(parts)


def _measures(comparison: Comparison) -> Table:
    table = _table("Measure", "Value", "95% interval", "Taken over", right=("Value", "Taken over"))
    for name, title in _NAMES.items():
        figure = comparison.estimates[name]
        over = number_of(figure.n, "pair" if name in _PAIRS else "response")
        table.add_row(title.format(high=comparison.sample.scale.high), *_cells(name, figure), over)
    return table


def _confusion(comparison: Comparison) -> RenderableType:
    counts = confusion(comparison.sample)
    low = comparison.sample.scale.low
    if len(counts) > _MOST_LEVELS:
        return f"A matrix of {len(counts)} scores is too wide to print; --plot draws it."
    levels = [str(low + level) for level in range(len(counts))]
    table = _table("Label \\ score", *levels, right=levels)
    for row, each in enumerate(counts):
        cells = [
            Text(f"{count:,}" if count else ".", "bold" * (row == column))
            for column, count in enumerate(each)
        ]
        table.add_row(levels[row], *cells)
    table.add_row("Mean label", *_mean_labels(comparison))
    return table


def _mean_labels(comparison: Comparison) -> list[str]:
    """What people give on average at each score of the scale, with its interval where there is
    room.
    """
    low, high = comparison.sample.scale
    means = {
        score: f"{mean:.1f}"
        + (f"\n{least:.1f}-{most:.1f}" if least is not None and high - low < 7 else "")
        for score, (mean, least, most) in comparison.calibration
    }
    return [means.get(score, "") for score in range(low, high + 1)]


def _between(comparisons: Iterable[Comparison]) -> Table:
    table = _table(
        "Judges",
        "Responses",
        "Exact match",
        "Weighted kappa",
        "Spearman",
        right=("Responses", "Spearman"),
    )
    for each in comparisons:
        names = to_printable(f"{each.judge}\n{each.other}")
        values = ["\n".join(_cells(*of)) for of in each.estimates.items()]
        table.add_row(names, f"{len(each.sample.scores):,}", *values)
    return table


def _groups(report: Report) -> Iterator[Table]:
    """The measures by group, and the mean label at each score unless the scale is too long."""
    low, high = report.scores.scale
    levels = [str(level) for level in range(low, high + 1)]
    table = _table(
        "Group", "Responses", "Weighted kappa", "Exact match", "Mean error", right=("Responses",)
    )
    means = _table("Mean label at score", *levels, right=levels)
    for group, each in report.by_group:
        is_enough = each.sample.n_prompts >= MIN_PROMPTS
        values = (
            ["\n".join(_cells(*of)) for of in each.estimates.items()]
            if is_enough
            else ["too few labels"]
        )
        name = to_printable(f"{group}\n{each.judge}" if len(report.scores.judges) > 1 else group)
        table.add_row(name, f"{len(each.sample.scores):,}", *values)
        means.add_row(name, *_mean_labels(each))
    yield from (table, means) if high - low < _MOST_LEVELS else (table,)


def _difference(difference: Difference, high: int) -> Table:
    names = [to_printable(name) for name in (difference.judge, difference.other)]
    table = _table(
        "Measure",
        *names,
        "Difference",
        "95% interval",
        right=(*names, "Difference", "95% interval"),
    )
    for name, figure in difference.estimates.items():
        values = [_value(name, value) for value in difference.values[name]]
        table.add_row(_NAMES[name].format(high=high), *values, *_cells(name, figure, "+"))
    return table


def _table(*titles: str, right: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in titles:
        table.add_column(title, justify="right" if title in right else "left", overflow="fold")
    return table


def _notes(report: Report, columns: Columns) -> Iterator[str]:
    low, high = report.scores.scale
    yield (
        f"Scale {low} to {high}. The intervals come from leaving out prompts; they need "
        f"{MIN_PROMPTS} of them."
    )
    if report.differences:
        yield "A difference is shown if its interval excludes 0; one in twenty does so by chance."
    labels = [label for response in report.scores.responses for label in response.labels]
    if columns.label_range is None and low <= 0 and max(labels) <= 1 < high:
        yield "No label is above 1: if they go from 0 to 1, say --scale 0-1."
    if report.unlabelled:
        yield f"{number_of(report.unlabelled, 'response')} without a usable label left out."
    if report.scores.repeats:
        yield (
            f"{number_of(report.scores.repeats, 'value')} left out, in conflict with an earlier "
            "line: another score of the same judge, or another label of the same person, for the "
            "same response."
        )
    if problems := report.scores.problems:
        yield f"{number_of(len(problems), 'value')} could not be used:"
        yield from (f"  {problem}" for problem in problems[:_MOST_PROBLEMS])
        if len(problems) > _MOST_PROBLEMS:
            yield f"  and {len(problems) - _MOST_PROBLEMS:,} more; --json lists them all"


def _value(name: str, value: float, sign: str = "") -> str:
    if isnan(value):
        return "none"
    return f"{value:{sign}z.1%}" if name in _SHARES else f"{value:{sign}z.2f}"


def _cells(name: str, figure: Estimate, sign: str = "") -> tuple[str, str]:
    """A figure and its interval, or why it has none."""
    value, low, high = (
        _value(name, each, sign) for each in (figure.value, figure.low, figure.high)
    )
    return value, figure.note or f"{low} to {high}"
