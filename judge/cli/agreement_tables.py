"""The report of `judge agreement` as tables for a terminal, and as plain text."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from judge.cli.options import to_printable
from judge.evaluation.agreement.measures import MIN_PROMPTS, Estimate
from judge.evaluation.agreement.report import Comparison, Report
from judge.evaluation.agreement.scores import Columns
from judge.evaluation.estimate import Corrected
from judge.evaluation.stats import MIN_LABELS, Interval, MeanEstimate
from judge.scoring.numbers import number_of
from judge.scoring.ratings import point
from judge.scoring.rubric import Scale

_MOST_LEVELS = 11
_MOST_PROBLEMS = 5

_NAMES = {
    "quadratic_weighted_kappa": "Quadratic weighted kappa",
    "within_one": "Within one",
    "exact_match": "Exact match",
    "spearman": "Spearman",
    "mean_error": "Mean error",
    "pairwise_accuracy": "Pairwise accuracy",
    "pairwise_ties": "  tied by the judge",
    "pairwise_reversals": "  the other way round",
}
_PAIRS = {"pairwise_accuracy", "pairwise_ties", "pairwise_reversals"}
_SHARES = _PAIRS | {"exact_match", "within_one"}
_CARD = (
    "What this does not show: whether people are right, or these responses stand for others; how "
    "the judge scores other questions, other assistants or under another version, and whether it "
    "would give the same again (judge batch --compare); whether it is as kind to one assistant as "
    "to another, unless both have labels (--by); whether a person has become stricter, unless "
    "others labelled the same responses."
)


def print_report(report: Report, columns: Columns) -> None:
    """Prints the report, 80 columns wide if the output is not a terminal."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 80
    if report.problems:
        for line in _problems(report.problems):
            console.print(fill(to_printable(line), console.width))
        console.print()
    for comparison in report.with_people:
        head = _head(
            f"{comparison.judge} against people ({columns.label})",
            fill(_coverage(comparison), console.width),
            *(fill(line, console.width) for line in _findings(comparison)),
        )
        _print_parts(console, head, _measures(comparison), _confusion(comparison, report.scale))
    if report.by_group:
        lines = [fill(line, console.width) for line in _kindness(report)]
        table = _few_measures(report, report.by_group, "Group")
        _print_parts(console, _head(f"By {columns.group}", *lines), table)
    if report.by_person:
        _print_parts(console, _head("By person"), _few_measures(report, report.by_person, "Person"))
    for note in (*_notes(report, columns), _CARD):
        console.print(fill(to_printable(note), console.width))
    console.print()
    for comparison in report.with_people:
        console.print(fill(to_printable(_told_apart(report, comparison)), console.width))


def _problems(problems: Sequence[str]) -> Iterator[str]:
    yield f"{number_of(len(problems), 'value')} could not be used:"
    yield from (f"  {problem}" for problem in problems[:_MOST_PROBLEMS])
    if len(problems) > _MOST_PROBLEMS:
        yield f"  and {len(problems) - _MOST_PROBLEMS:,} more; --json lists them all"


def _head(title: str, *lines: str) -> Text:
    return Text("\n").join([Text(to_printable(title), "bold"), *map(Text, lines)])


def _print_parts(console: Console, *parts: RenderableType) -> None:
    for part in parts:
        console.print(part)
        console.print()


def _coverage(comparison: Comparison) -> str:
    counted = (
        f"{number_of(comparison.responses, 'response')} to "
        f"{number_of(comparison.prompts, 'prompt')}"
    )
    if comparison.unscored:
        counted += f"; {comparison.unscored:,} more without a score"
    return counted


def _findings(comparison: Comparison) -> Iterator[str]:
    if comparison.verdict:
        yield comparison.verdict
    corrected = comparison.corrected
    if corrected and corrected.mean.corrected:
        yield from _mean_as_people_score(corrected)
    elif corrected and corrected.unlike:
        mean = corrected.mean.judge.mean
        labelled, others = corrected.unlike
        yield (
            f"Mean {mean:.2f} by the judge alone. Not corrected: the labelled responses score "
            f"unlike the others ({labelled:.2f} against {others:.2f}), as if they had been chosen. "
            "Draw new ones at random, and label these."
        )
    elif corrected:
        mean = corrected.mean.judge.mean
        yield f"Mean {mean:.2f} by the judge alone: no label was given before the score was seen."


def _mean_as_people_score(corrected: Corrected) -> Iterator[str]:
    mean = corrected.mean
    by = f"corrected by {number_of(mean.labelled, 'label')}; the judge alone says"
    yield (
        f"Mean {_range(mean.corrected)} ({number_of(mean.n, 'score')}, {by} {mean.judge.mean:.2f})."
    )
    if mean.corrected is None or mean.corrected.low is None:
        return
    good = f"{corrected.good.judge.mean:.0%} by the judge alone, as the labelled have another share"
    if corrected.good.corrected:
        by_people = _range(corrected.good.corrected, ".0%")
        good = f"{by_people} (the judge alone says {corrected.good.judge.mean:.0%})"
    yield f"Good responses, at least {corrected.good_from}: {good}."
    reach = corrected.plus_minus
    if reach is not None and reach < (mean.scale.high - mean.scale.low) / 2:
        points = "1 point" if reach == 1 else f"{round(reach, 2):g} points"
        yield f"In 9 of 10 cases a person's label is within {points} of the judge's score."
    if mean.missing:
        yield from _few_labels(mean)
    yield from corrected.caveats
    if mean.labelled < mean.n:
        yield (
            "No figure shows whether bad responses that the judge takes for good were labelled "
            "more rarely."
        )


def _few_labels(mean: MeanEstimate) -> Iterator[str]:
    at_least = ""
    if mean.effective < mean.labelled:
        at_least = "at least "
        yield (
            f"The {mean.labelled:,} labels weigh unequally or share threads or prompts, so they "
            f"tell as much as {mean.effective:.1f}."
        )
    yield (
        f"With fewer than {MIN_LABELS} labels the range is rough: if most labels are the same, it "
        f"may hold 80% instead of 95%; {at_least}{mean.missing} more are needed."
    )


def _range(interval: Interval | None, form: str = ".2f") -> str:
    if interval is None:
        return "unknown"
    if interval.low is None or interval.high is None:
        return f"{interval.mean:{form}}, of unknown precision"
    return f"{interval.mean:{form}}, between {interval.low:{form}} and {interval.high:{form}}"


def _measures(comparison: Comparison) -> Table:
    table = _table("Measure", "Value", "95% interval", "Taken over", right=("Value", "Taken over"))
    for name, title in _NAMES.items():
        figure = comparison.measures[name]
        over = number_of(figure.n, "pair" if name in _PAIRS else "response")
        table.add_row(title, *_cells(name, figure), over)
    return table


def _confusion(comparison: Comparison, scale: Scale) -> RenderableType:
    counts = comparison.confusion
    if len(counts) > _MOST_LEVELS:
        return f"A matrix of {len(counts)} scores is too wide to print."
    levels = [str(scale.low + level) for level in range(len(counts))]
    table = _table("Label \\ score", *levels, right=levels)
    for row, label in enumerate(levels):
        cells = [Text(f"{count:,}" if count else ".") for count in counts[row]]
        cells[row].style = "bold"
        table.add_row(label, *cells)
    return table


def _told_apart(report: Report, comparison: Comparison) -> str:
    """The last line: what the judge is good for, on these labels."""
    judge = comparison.judge if len(report.with_people) > 1 else "the judge"
    half = point(report.scale) / 2
    size = "half a point" if half == 0.5 else f"{half:g} points"
    needed = comparison.replies_to_tell_apart
    if needed is None:
        few = comparison.slope.note or "its scores do not clearly follow people's"
        return (
            f"On these labels nobody knows whether {judge} can tell assistants apart that differ "
            f"by {size}: {few}."
        )
    n = comparison.corrected.mean.independent if comparison.corrected else 0
    can = "can" if needed <= n else "cannot"
    return (
        f"On these labels {judge} {can} tell assistants apart that differ by {size}: it takes "
        f"about {needed:,} replies of each, and {n:,} are here. With replies of both to the same "
        "questions, fewer do (judge batch --compare)."
    )


def _kindness(report: Report) -> Iterator[str]:
    """To whom the judge is kinder, as far as is clear."""
    has_several = len(report.judges) > 1
    for each in report.kindness:
        judge = each.judge if has_several else "the judge"
        if each.why_not:
            yield to_printable(f"{each.group}: not compared with the others, since {each.why_not}.")
        elif each.is_clear:
            how = "kinder to" if each.apart > 0 else "stricter with"
            yield to_printable(
                f"Beside people, {judge} is clearly {how} {each.group} than the others, by "
                f"{abs(each.apart):.2f} (Holm's test of {len(report.kindness)})."
            )


def _few_measures(report: Report, compared: Iterable[Comparison], title: str) -> Table:
    table = _table(
        title,
        "Responses",
        "Mean, as people",
        "Weighted kappa",
        "Within one",
        "Mean error",
        right=("Responses",),
    )
    has_several = len(report.judges) > 1
    for comparison in compared:
        values = ["too few labels"]
        if comparison.prompts >= MIN_PROMPTS:
            # Each figure with its interval, or why it has none, on the line below.
            figures = comparison.measures.items()
            values = ["\n".join(_cells(measure, figure)) for measure, figure in figures]
        part = comparison.part
        name = to_printable(f"{part}\n{comparison.judge}" if has_several else part)
        mean = _mean_cell(comparison)
        table.add_row(name, f"{comparison.responses:,}", mean, *values)
    return table


def _mean_cell(comparison: Comparison) -> str:
    """The corrected mean with its interval below, or why there is none."""
    corrected = comparison.corrected
    if corrected and corrected.unlike:
        return "labelled ones\nscore unlike"
    found = corrected.mean.corrected if corrected and not corrected.mean.missing else None
    if found is None or found.low is None:
        return "too few labels"
    return f"{found.mean:.2f}\n{found.low:.2f} to {found.high:.2f}"


def _table(*titles: str, right: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in titles:
        table.add_column(title, justify="right" if title in right else "left", overflow="fold")
    return table


def _notes(report: Report, columns: Columns) -> Iterator[str]:
    low, high = report.scale
    yield (
        f"Scale {low} to {high}. The intervals come from leaving out prompts; they need "
        f"{MIN_PROMPTS} of them."
    )
    if columns.label_range is None and low <= 0 and report.highest_label <= 1 < high:
        yield "No label is above 1: if they go from 0 to 1, say --scale 0-1."
    if report.unlabelled:
        yield (
            f"{number_of(report.unlabelled, 'response')} without a usable label, which only the "
            "mean takes in."
        )
    if report.not_blind:
        yield (
            f"Left out of the mean: {number_of(report.not_blind, 'label')} given after the score "
            "was seen."
        )
    if report.own_labels:
        labels = number_of(report.own_labels, "label")
        yield f"Left out: {labels} of the responses' own lines, since --labels names others."
    if report.same:
        yield (
            f"Counted once: {number_of(report.same, 'line')} with the question and the response "
            "of an earlier line."
        )
    if report.repeats:
        yield (
            f"{number_of(report.repeats, 'value')} left out, in conflict with an earlier "
            "line: another score of the same judge, or another label of the same person, for the "
            "same response."
        )


def _value(name: str, value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:z.1%}" if name in _SHARES else f"{value:z.2f}"


def _cells(name: str, figure: Estimate) -> tuple[str, str]:
    """A figure and its interval, or why it has none."""
    ends = f"{_value(name, figure.low)} to {_value(name, figure.high)}"
    return _value(name, figure.value), figure.note or ends
