"""Checks an output of `judge batch`, for example in a pull request: against a lowest mean and an
earlier output.
"""

import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from math import sqrt
from pathlib import Path
from statistics import fmean

from judge.errors import SetupError
from judge.evaluation.labelled import LabelledRows, Range
from judge.evaluation.planning import to_be_seen
from judge.evaluation.severity import Given, Severities
from judge.evaluation.stats import (
    MIN_LABELS,
    Interval,
    MeanEstimator,
    minus,
    paired,
    paired_difference,
    t_quantile,
)
from judge.rows.batch import identity_of
from judge.rows.files import decode, explaining, private, read_lines, shown
from judge.rows.journal import answered_as
from judge.rows.messages import has_reply
from judge.rows.row_file import Row
from judge.scoring.attacks import nothing_to_judge
from judge.scoring.judging import Judge
from judge.scoring.offline import OFFLINE
from judge.scoring.ratings import UnscoredReason
from judge.scoring.rubric import Scale
from judge.scoring.sanitize import one_line

_HINT = (
    "Score the earlier responses again with the present judge, or name people's labels with "
    "--label, to see which judge is closer to them."
)
_ALIKE = 0.25  # points that a judge may differ from itself and still be said to give the same
_DUST = 1e-9
_SURE = 30  # pairs with the same texts that show by how much the judge itself has changed
_PLAIN = frozenset(string.ascii_letters + string.digits + " ")


@dataclass
class _Found:
    """The current rows compared with those of an earlier output; of two numbers, the earlier one is
    first.
    """

    mean: Interval | None = None  # of all current scored rows
    same: int = 0  # pairs with the same texts: what differs in their scores is the judge's
    own: Interval | None = None  # the judge's own difference, by these
    pairs: Counter[tuple[int, int]] = field(
        default_factory=Counter
    )  # the other ones, by earlier and current score
    # those of them whose current score is the judge's, not that of a reply with nothing to judge
    judged: int = 0
    difference: Interval | None = None  # between their means
    labels: int = 0  # the pairs with people's labels in both files
    people: Interval | None = (
        None  # the difference as people would score, if there are enough labels
    )
    lengths: list[tuple[float, float]] = field(
        default_factory=list
    )  # in 100 words, and the score above the label
    served: Counter[tuple[str, str]] = field(
        default_factory=Counter
    )  # ratings by model and the name that answered
    # Rows that are scored, empty (with nothing to judge), otherwise unscored, and alone (without a
    # partner).
    counts: tuple[Counter[str], Counter[str]] = field(
        default_factory=lambda: (Counter(), Counter())
    )
    reworded: int = 0  # pairs with one prompt_id but different prompts
    has_more_unscored: bool = False
    fallen: list[tuple[int, int, str, int, int]] = field(
        default_factory=list
    )  # change, line, prompt, both scores

    @property
    def corrected(self) -> Interval | None:
        """The difference by people's labels if there are enough, or without the judge's own where
        that is known.
        """
        if self.people:
            return self.people
        if not (self.difference and self.own and (self.same >= _SURE or self.own.is_clear)):
            return None
        share = self.judged / self.pairs.total()
        low, high = (None if end is None else end * share for end in self.own[1:])
        return minus(self.difference, Interval(self.own.mean * share, low, high))

    @property
    def outcome(self) -> str:
        change = self.corrected or self.difference
        if not (change and change.is_clear):
            return "not clearly worse"
        return "clearly better" if change.mean > 0 else "clearly worse"


_Earlier = tuple[int | None, int, int | None, Given]
"""A row of the earlier output: hashes of all its texts and of its prompt, its score and people's labels."""


@dataclass
class Check:
    """Checks an output as the options ask. What cannot be compared is refused here, before a model
    is paid.

    docs/integrations.md says what is compared and what fails. In the intervals, rows with one
    `thread`, or one prompt if they have none, are a cluster.
    """

    judge: Judge  # gave the verdicts of both outputs
    output: Path  # the journal to check
    fail_under: float | None  # the lowest mean that passes
    earlier: Path | None  # the earlier output to compare with
    fail_if_worse: bool  # whether clearly lower scores than in the earlier output fail
    summary: Path | None  # the file to append the result to, as Markdown
    takes_other_judge: bool = False
    label: str | None = (
        None  # the field with people's labels; in both files, they correct the difference
    )
    label_range: Range | None = None

    def __post_init__(self) -> None:
        low, high = self.judge.rubric.scale
        self._found = _Found()
        self._before: dict[int, list[_Earlier]] = {}  # by prompt
        self._labels = LabelledRows([], self.label or "", self.label_range, scores=())
        if self.fail_under is not None and not self.fail_under <= high:
            raise SetupError(
                f"--fail-under {self.fail_under:g}: no mean reaches it on the scale {low} "
                f"to {high}."
            )
        if self.summary and self.summary.suffix == ".jsonl":
            raise SetupError(
                f"--summary {self.summary}: Markdown would damage the rows; name another file."
            )
        if self.fail_if_worse and self.earlier is None:
            raise SetupError("--fail-if-worse: name the earlier output with --compare.")
        if self.earlier is None:
            return
        if self.earlier.exists() and self.output.exists() and self.earlier.samefile(self.output):
            raise SetupError(
                f"--compare {self.earlier}: that is the output; give the earlier one another name."
            )
        names = set[str]()
        for row, score, given in self._read(self.earlier, 0):
            names.update(row.fields)
            self._before.setdefault(hash(row.known_by[0]), []).append(
                (_texts(row), hash(row.asked), score, given)
            )
        if self.label and self.label not in names:
            raise SetupError(f"--label {self.label}: no row of {self.earlier} has this field.")

    def finish(self, missing: int, say: Callable[[str], None]) -> int | None:
        """Says the result. Returns 1 if the check fails, 2 if nothing can be told, or None if there
        is no check.

        `missing` is the number of rows without a verdict.
        """
        is_check = self.fail_under is not None or self.fail_if_worse
        is_compared = self.earlier is not None
        if not (is_check or is_compared or self.summary):
            return None
        self._compare()
        said = [*self._judge_it(missing)]
        code = next((code for code in (1, 2) if any(code == each for each, _ in said)), 0)
        result = ("passed", "failed", "cannot tell")[code]
        head = f"Check {result}" if is_check else "Compared" if is_compared else "Scored"
        figures = [*self._figures()]
        why = "; ".join(words for each, words in said if each == code or not code)
        for name, before, now in figures:
            say(f"{name[0].upper()}{name[1:]}: {before and f'{before} before, now '}{now}.")
        say(f"{head}{why and ': '}{why}.")
        if self.summary is not None:
            failure = f"--summary {self.summary}: cannot write it"
            with (
                explaining(failure),
                open(self.summary, "a", encoding="utf-8", opener=private) as file,
            ):
                file.write(self._to_markdown(figures, head, why))
        return code if is_check else None

    def _compare(self) -> None:
        found = self._found
        (low, high) = self.judge.rubric.scale
        mean = MeanEstimator(Scale(low, high))
        newly_unscored = MeanEstimator(Scale(-1, 1))
        pairs = list[tuple[int, str | int, Given, Given]]()
        own = list[tuple[int, object]]()
        for row, score, given in self._read(self.output, 1):
            key = hash(row.known_by[0])
            cluster = row.key("thread") or key
            if score is not None:
                mean.add(score, cluster=cluster)
            partners = self._before.get(key)
            if not partners:
                found.counts[1]["alone"] += 1
                continue
            texts = _texts(row)
            at = next(
                (at for at, each in enumerate(partners) if texts is not None and each[0] == texts),
                0,
            )
            its_texts, prompt, before, its = partners.pop(at)
            newly_unscored.add((score is None) - (before is None), cluster=cluster)
            if score is None or before is None:
                continue
            if texts is not None and texts == its_texts:
                own.append((score - before, cluster))
                continue
            pairs.append((score - before, cluster, given, its))
            found.pairs[before, score] += 1
            found.judged += row.get("score") is not None
            found.reworded += prompt != hash(row.asked)
            if score < before:
                fall = (score - before, row.line, row.dialogue.question, before, score)
                found.fallen = nsmallest(3, [*found.fallen, fall])  # those to be named
        found.counts[0]["alone"] = sum(map(len, self._before.values()))
        found.mean = each.judge if (each := mean.estimate()) else None
        both = [each for *_, given, its in pairs if given and its for each in (given, its)]
        change = MeanEstimator(Scale(low - high, high - low), Severities(both))
        for moved, thread, given, its in pairs:
            change.add(moved, given=given if its else (), less=its if given else (), cluster=thread)
        if changed := change.estimate():
            found.difference = paired_difference(changed)
            found.labels = changed.labelled
            found.people = None if changed.missing else changed.corrected
        found.own = paired(own, self.judge.rubric.scale)
        found.same = len(own)
        found.has_more_unscored = bool(
            (each := newly_unscored.estimate()) and (paired_difference(each).low or 0) > 0
        )

    def _read(self, path: Path, index: int) -> Iterator[tuple[Row, int | None, Given]]:
        """The rows of an output, all of this judge, with the scores that they count as, and
        people's labels.

        They are counted at `index`.
        """
        found = self._found
        for row, is_empty in _read_outputs(path, self.judge):
            score = row.get("score")
            found.served.update(row.served)
            found.counts[index][
                "empty" if is_empty else "unscored" if score is None else "scored"
            ] += 1
            given: Given = ()
            if (
                self.label
                and (read := self._labels.read(row, self.judge.rubric.scale)).labels
                and read.is_blind
            ):
                label = fmean(read.labels)
                given = read.given
                found.lengths += (
                    [(len(row.response.split()) / 100, score - label)] if score is not None else []
                )
            if self._labels.problems:
                raise SetupError(
                    f"{path}, {self._labels.problems[0]}; mend it, or say --scale with the "
                    "labels' own."
                )
            yield row, self.judge.rubric.scale.low if is_empty else score, given

    def _figures(self) -> Iterator[tuple[str, str, str]]:
        """The name of each figure, its earlier value ("" if unknown) and its current value."""
        found = self._found
        is_compared = self.earlier is not None
        has_empty = any(each["empty"] for each in found.counts)
        names = {
            "scored": "scored rows",
            "empty": has_empty
            and f"replies with nothing to judge, counted as {self.judge.rubric.scale.low}",
            "unscored": f"{'other ' * has_empty}unscored rows",
            "alone": is_compared and "rows without a partner",
        }
        for kind, name in names.items():
            if name:
                then, now = (f"{each[kind]:,}" for each in found.counts)
                more = ", clearly more" if kind == "unscored" and found.has_more_unscored else ""
                yield name, then if is_compared else "", f"{now}{more}"
        yield (
            f"mean of all scored rows{' and these replies' if has_empty else ''}",
            "",
            _say(found.mean),
        )
        if found.same or found.pairs:
            own = _say(found.own, "+.2f") if found.same else "unknown"
            yield f"the judge's own difference (pairs with the same texts: {found.same:,})", "", own
        if n := found.pairs.total():
            before, after = (
                sum(pair[index] * rows for pair, rows in found.pairs.items()) / n
                for index in (0, 1)
            )
            yield (
                f"mean of the {'other ' * bool(found.same)}pairs (n = {n:,})",
                f"{before:.2f}",
                f"{after:.2f}",
            )
            few = (
                f" ({found.labels} labelled in both, {MIN_LABELS} needed)"
                if self.label and not found.people
                else ""
            )
            yield f"difference, by the judge alone{few}", "", _say(found.difference, "+.2f")
            if seen := to_be_seen(found.corrected or found.difference or Interval(0, None, None)):
                yield "a drop that would be clear in 4 of 5 such comparisons", "", f"{seen:.2f}"
            if found.corrected:
                how = (
                    f"corrected by the labels of {found.labels}"
                    if found.people
                    else "without the judge's own"
                )
                yield f"difference, {how}", "", _say(found.corrected, "+.2f")
        longer = slope(found.lengths) if len(found.lengths) >= MIN_LABELS else None
        if longer and longer.is_clear:
            how = "raise" if longer.mean > 0 else "lower"
            yield (
                f"100 words more {how} the judge's score at equal labels",
                "",
                _say(longer, "+.2f"),
            )
        if found.reworded:
            yield "pairs by prompt_id whose prompts differ", "", f"{found.reworded:,}"

    def _judge_it(self, missing: int) -> Iterator[tuple[int, str]]:
        """The findings on the whole output: 1 for a failure, 2 for what cannot be told, and its
        words.
        """
        found = self._found
        if missing:
            yield (
                True,
                f"rows without a verdict (failed calls, skipped lines or --max-cost): {missing:,}",
            )
        then, now = (each["scored"] + each["empty"] + each["unscored"] for each in found.counts)
        if 2 * (scored := found.counts[1]["scored"]) < now or not now:
            yield (
                True,
                f"only {scored:,} of {now:,} rows scored" if scored else "no row has a score",
            )
        if found.mean and (limit := self.fail_under) is not None:
            mean = found.mean.mean
            # Two decimals, unless they would round the mean up to the limit.
            figure = f"{mean:.9g}" if mean < limit <= float(f"{mean:.2f}") else f"{mean:.2f}"
            yield (
                mean < limit,
                f"the mean {figure} is {'' if mean < limit else 'not '}below {limit:.9g}",
            )
        if self.earlier is None:
            return
        if (pairs := found.pairs.total() + found.same) * 2 < then or not pairs:
            only = f"only {pairs:,} of {then:,} rows scored" if pairs else "no row has a score"
            yield self.fail_if_worse, f"{only} both now and in {self.earlier}"
        if found.has_more_unscored:
            yield self.fail_if_worse, f"clearly more rows are unscored than in {self.earlier}"
        others = [] if found.corrected or self.takes_other_judge else [*answered_as(found.served)]
        if not found.pairs and pairs:
            yield (
                0,
                (
                    f"all pairs with {self.earlier} have the same texts: the judge alone gives "
                    f"{_change_of(found.own)}"
                ),
            )
        elif pairs and others:
            few = (
                f"{found.same} of its pairs have the same texts, where {_SURE} would show what "
                "that changes"
            )
            yield (
                2 * self.fail_if_worse,
                f"{self.earlier} does not compare: model {', '.join(others)}, and {few}; score it "
                f"again, give {MIN_LABELS} labels in both (--label), or take both for one with "
                "--other-judge",
            )
        elif pairs:
            yield (
                self.fail_if_worse and found.outcome == "clearly worse",
                f"{found.outcome} than {self.earlier}",
            )

    def _to_markdown(self, figures: list[tuple[str, str, str]], head: str, why: str) -> str:
        rubric = self.judge.rubric
        samples = identity_of(self.judge)["samples"]
        by = f"{self.judge.model}, rubric {rubric.name} ({rubric.version}), samples: {samples}"
        tables = [("", figures)]
        if fallen := self._found.fallen:
            tables.append(
                ("fell most", [(_escape(each[2]), str(each[3]), str(each[4])) for each in fallen])
            )
        parts = [f"\n### {head}", why and _escape(why, most=1000), _escape(by, most=1000)]
        for title, rows in tables:
            lines = [(title, "before", "now"), ("---",) * 3, *rows]
            parts.insert(-1, "\n".join(f"| {' | '.join(cells)} |" for cells in lines))
        if self.judge.model == OFFLINE:
            parts.append("The offline rater counted words: it is not a judge.")
        return "\n\n".join(filter(None, parts)) + "\n"


def _read_outputs(path: Path, judge: Judge) -> Iterator[tuple[Row, bool]]:
    """The rows of an output, and whether the reply of each is nothing to judge.

    For an output of another judge it raises SetupError.
    """
    low, high = judge.rubric.scale
    for line, raw in read_lines(path):
        try:
            row = Row(line, decode(raw))
            _ = row.dialogue
            score = row.get("score")
            is_empty = row.get(
                "unscored_reason"
            ) == UnscoredReason.NOTHING_TO_JUDGE and _is_failure(row)
            if "score" not in row.fields:
                raise ValueError("no score")
            if score is not None and not (type(score) is int and low <= score <= high):
                raise ValueError(f"score {shown(score)} is not a whole number from {low} to {high}")
        except ValueError as exc:
            raise SetupError(
                f"{path}, line {line}: {exc}; give JSONL that 'judge batch' wrote."
            ) from exc
        for name, value in identity_of(judge).items():
            if row.get(name) != value:
                why = f"judged with {name} {row.get(name)!r}, now {value!r}"
                raise SetupError(
                    f"{path}, line {line}: {why}; scores of two judges do not compare. {_HINT}"
                )
        yield row, is_empty


def _is_failure(row: Row) -> bool:
    """Whether nothing to judge is the assistant's failure: not if the question is empty, or the
    reply not read.
    """
    messages = row.messages
    (question, response, _) = row.dialogue
    is_question = nothing_to_judge(question, "It is an answer.") is None  # to any question
    is_read = messages is None or has_reply(messages)
    return is_question and is_read and nothing_to_judge(question, response) is not None


def _texts(row: Row) -> int | None:
    """A key that only rows whose judge got the same texts share; None if there was no verdict."""
    return hash((row.dialogue, row.reference)) if row.get("score") is not None else None


def _change_of(own: Interval | None) -> str:
    """What the judge gives where it scored the same texts before, such as "0.38 less (0.26 to
    0.50)".
    """
    if own is None or own.low is None or own.high is None:
        return "an unknown difference"
    if not own.is_clear:
        how = "the same" if max(-own.low, own.high) <= _ALIKE else "neither clearly more nor less"
        return f"{how} ({own.low:+.2f} to {own.high:+.2f})"
    near, far = own.sizes
    return f"{abs(own.mean):.2f} {'more' if own.mean > 0 else 'less'} ({near:.2f} to {far:.2f})"


def slope(points: Sequence[tuple[float, float]]) -> Interval | None:
    """By how much y rises with each unit of x, with HC3 errors; None without an interval.

    Source: MacKinnon and White (1985), Journal of Econometrics 29(3).
    """
    n = len(points)
    x_mean, y_mean = (fmean(each) for each in zip(*points, strict=True)) if points else (0, 0)
    squares = sum((x - x_mean) ** 2 for x, _ in points)
    if n < 3 or squares < _DUST:
        return None
    rise = sum((x - x_mean) * (y - y_mean) for x, y in points) / squares
    free = [1 - 1 / n - (x - x_mean) ** 2 / squares for x, _ in points]
    if min(free) < _DUST:  # the line goes through this point, whatever its y
        return None
    errors = (
        (x - x_mean) * (y - y_mean - rise * (x - x_mean)) / own
        for (x, y), own in zip(points, free, strict=True)
    )
    half = t_quantile(n - 2) * sqrt(sum(each**2 for each in errors)) / squares
    return Interval(rise, rise - half, rise + half)


def _say(interval: Interval | None, form: str = ".2f") -> str:
    if interval is None or interval.low is None:  # one prompt gives a mean, but no interval
        return "unknown" if interval is None else f"{interval.mean:{form}}"
    return f"{interval.mean:{form}} (95% interval {interval.low:{form}} to {interval.high:{form}})"


def _escape(text: str, most: int = 80) -> str:
    """The beginning of an untrusted text as code for Markdown, so that it forms no markup, mention
    or link.
    """
    line = one_line(text, most)
    escaped = (each if each in _PLAIN or not each.isascii() else f"&#{ord(each)};" for each in line)
    return f"<code>{''.join(escaped)}</code>"
