"""The figures of a check as sentences, and as Markdown."""

import string
from collections.abc import Iterator, Sequence
from heapq import nlargest, nsmallest
from pathlib import Path
from statistics import median
from typing import NamedTuple

from judge.evaluation.comparison import Comparison
from judge.evaluation.outputs import Output, questions_at
from judge.evaluation.stats import MIN_LABELS, Interval, MeanEstimate
from judge.rows.batch import identity_of
from judge.scoring.judging import Judge
from judge.scoring.offline import OFFLINE
from judge.scoring.rubric import Scale
from judge.scoring.sanitize import one_line

_TOPIC = "topic"
_MOST_FALLEN = 3  # replies that are named
_MOST_GROUPS = 20
_PLAIN = frozenset(string.ascii_letters + string.digits + " ")


class Figure(NamedTuple):
    name: str
    before: str  # "" if unknown
    now: str


def figures_of(
    output: Output, mean: MeanEstimate | None, compared: Comparison | None, scale: Scale
) -> Iterator[Figure]:
    before = compared.before if compared else None
    empty_before = before.empty if before else 0
    more = ", clearly more" if compared and compared.has_more_unscored else ""

    def counted(name: str, now: int, earlier: int, more: str = "") -> Figure:
        return Figure(name, f"{earlier:,}" if before else "", f"{now:,}{more}")

    yield counted("scored rows", output.scored, before.scored if before else 0)
    if output.empty or empty_before:
        name = f"replies with nothing to judge, counted as {scale.low}"
        yield counted(name, output.empty, empty_before)
    yield counted("unscored rows", output.unscored, before.unscored if before else 0, more)
    if compared and not compared.by_means:
        yield counted("rows without a partner", compared.alone[1], compared.alone[0])
    yield Figure("mean", "", _say(mean.judge if mean else None))
    if compared:
        if compared.reworded:
            name = "pairs by prompt_id whose questions differ"
            yield Figure(name, "", f"{compared.reworded:,}")
        yield from _of_both(compared)


def _of_both(compared: Comparison) -> Iterator[Figure]:
    if compared.by_means:
        yield from _of_questions(compared)
    elif compared.same or compared.pairs:
        own = _say(compared.own, "+.2f") if compared.same else "unknown"
        if compared.is_cached:
            own = "unknown, since all outputs are equal to the letter, as a cache gives them"
        same = f"pairs with the same texts: {len(compared.same):,}"
        yield Figure(f"the judge's own difference ({same})", "", own)
    if compared.means and (compared.pairs or compared.by_means):
        yield from _differences(compared, *compared.means)


def _of_questions(compared: Comparison) -> Iterator[Figure]:
    """What is known of questions that differ."""
    yield Figure(
        "pairs with the same question",
        "",
        f"{len(compared.same) + len(compared.pairs):,}, so means are compared",
    )
    before = median(row.words for row in compared.before.rows)
    now = median(row.words for row in compared.now.rows)
    yield Figure("words in a question (median)", f"{before:g}", f"{now:g}")
    if not compared.groups and _TOPIC in compared.before.fields & compared.now.fields:
        yield Figure(f"both have the field {_TOPIC}", "", f"--by {_TOPIC} compares within each")


def _differences(compared: Comparison, before: float, now: float) -> Iterator[Figure]:
    if compared.by_means:
        which = "rows that are compared"
    else:
        which = "other pairs" if compared.same else "pairs"
        which += f" (n = {len(compared.pairs):,})"
    yield Figure(f"mean of the {which}", f"{before:.2f}", f"{now:.2f}")
    name = "difference, by the judge alone"
    labels = min(compared.labels)
    if compared.why_not:
        name += f" (not corrected: {compared.why_not})"
    elif labels < MIN_LABELS and max(compared.labels):
        name += f" ({labels} labelled in both, {MIN_LABELS} needed)"
    yield Figure(name, "", _say(compared.difference, "+.2f"))
    if compared.people:
        how = f"corrected by the labels of {labels}"
        how += ", if people were as strict before as now"
        yield Figure(f"difference, {how}", "", _say(compared.people, "+.2f"))
    elif compared.corrected:
        name = "difference, without the judge's own"
        yield Figure(name, "", _say(compared.corrected, "+.2f"))
    # Of the last difference above.
    if compared.seen:
        name = "a drop that would be clear in 4 of 5 such comparisons"
        drop = f"{compared.seen:.2f}" if compared.could_fail else "none on this scale"
        yield Figure(name, "", drop)


def to_sentences(figures: Sequence[Figure], compared: Comparison | None) -> Iterator[str]:
    for figure in [*figures, *(_within_groups(compared) if compared else ())]:
        before = f"{figure.before} before, now " if figure.before else ""
        yield f"{figure.name[0].upper()}{figure.name[1:]}: {before}{figure.now}."


def _within_groups(compared: Comparison) -> Iterator[Figure]:
    """The differences in the groups, whose names are untrusted."""
    for group in nlargest(_MOST_GROUPS, compared.groups, key=lambda group: group.rows):
        name = f"within {one_line(group.name, 80)} (n = {group.rows:,}, by the judge)"
        yield Figure(name, "", _say(group.change, "+.2f"))
    if len(compared.groups) > _MOST_GROUPS:
        yield Figure("groups with fewer rows", "", f"{len(compared.groups) - _MOST_GROUPS:,}")


def to_markdown(
    judge: Judge,
    figures: Sequence[Figure],
    head: str,
    why: str,
    output: Path,
    compared: Comparison | None,
) -> str:
    samples = identity_of(judge)["samples"]
    rubric = judge.rubric
    by = f"{judge.model}, rubric {rubric.name} ({rubric.version}), samples: {samples}"
    parts = [f"\n### {head}", _escape(why, most=1000) if why else "", _to_table("", figures)]
    if compared and compared.groups:
        groups = [
            figure._replace(name=_escape(figure.name, most=150))
            for figure in _within_groups(compared)
        ]
        parts.append(_to_table("", groups))
    if compared:
        parts.append(_fell_most(compared, output))
    parts.append(_escape(by, most=1000))
    if judge.model == OFFLINE:
        parts.append("The offline rater counted words: it is not a judge.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _fell_most(compared: Comparison, output: Path) -> str:
    """The table of the replies that fell most; empty if none did."""
    fallen = [pair for pair in compared.pairs if pair.change < 0]
    worst = nsmallest(_MOST_FALLEN, fallen, key=lambda pair: (pair.change, pair.now.line))
    if not worst:
        return ""
    questions = questions_at(output, {pair.now.line for pair in worst})
    rows = [
        Figure(_escape(questions[pair.now.line]), str(pair.before.score), str(pair.now.score))
        for pair in worst
    ]
    return _to_table("fell most", rows)


def _to_table(title: str, figures: Sequence[Figure]) -> str:
    rows = [(title, "before", "now"), ("---", "---", "---"), *figures]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _say(interval: Interval | None, form: str = ".2f") -> str:
    if interval is None:
        return "unknown"
    if interval.low is None:  # one prompt gives a mean, but no interval
        return f"{interval.mean:{form}}"
    return f"{interval.mean:{form}} (95% interval {interval.low:{form}} to {interval.high:{form}})"


def _escape(text: str, most: int = 80) -> str:
    """The beginning of an untrusted text as code for Markdown, so that it forms no markup, mention
    or link.
    """
    escaped = ""
    for character in one_line(text, most):
        is_safe = character in _PLAIN or not character.isascii()
        escaped += character if is_safe else f"&#{ord(character)};"
    return f"<code>{escaped}</code>"
