"""Checks an output of `judge batch`, for example in a pull request: against a lowest mean and an
earlier output.
"""

import string
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple

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
_SURE = 30  # pairs with the same texts that show by how much the judge itself has changed
_MOST_FALLEN = 3  # replies that are named
_PLAIN = frozenset(string.ascii_letters + string.digits + " ")


class Result(Enum):
    """What a check says; the value is the exit code."""

    PASSED = 0
    FAILED = 1
    CANNOT_TELL = 2


class _Figure(NamedTuple):
    name: str
    before: str  # "" if unknown
    now: str


@dataclass
class _Tally:
    """The rows of one output."""

    scored: int = 0
    empty: int = 0  # with nothing to judge, counted as the lowest score
    unscored: int = 0  # for other reasons
    alone: int = 0  # without a partner in the other output

    @property
    def rows(self) -> int:
        return self.scored + self.empty + self.unscored


class _Earlier(NamedTuple):
    """A row of the earlier output; texts are hashes."""

    texts: int | None  # None if there was no verdict
    prompt: int
    score: int | None
    given: Given


class _Pair(NamedTuple):
    """Two scores of replies to one prompt."""

    before: int
    now: int
    cluster: Hashable
    given_before: Given
    given: Given
    is_judged: bool  # now by the judge, not for being empty
    is_reworded: bool  # one prompt_id, but different prompts


class _Fall(NamedTuple):
    change: int
    line: int
    prompt: str
    before: int
    now: int


@dataclass
class _Found:
    """The current rows compared with those of an earlier output."""

    before: _Tally = field(default_factory=_Tally)
    now: _Tally = field(default_factory=_Tally)
    served: Counter[tuple[str, str]] = field(default_factory=Counter)
    # Pairs with the same texts: what differs in their scores is the judge's.
    same: list[_Pair] = field(default_factory=list)
    pairs: list[_Pair] = field(default_factory=list)  # the other ones
    fallen: list[_Fall] = field(default_factory=list)  # those to be named
    mean: Interval | None = None  # of all current scores
    own: Interval | None = None  # the judge's own difference, by the pairs with the same texts
    difference: Interval | None = None  # between the means of the other pairs
    labels: int = 0  # the pairs with people's labels in both files
    people: Interval | None = None  # the difference as people would score, if these are enough
    has_more_unscored: bool = False

    @property
    def corrected(self) -> Interval | None:
        """The difference by people's labels if there are enough, or without the judge's own where
        that is known.
        """
        if self.people:
            return self.people
        is_known = self.own and (len(self.same) >= _SURE or self.own.is_clear)
        if self.difference is None or self.own is None or not is_known:
            return None
        share = sum(pair.is_judged for pair in self.pairs) / len(self.pairs)
        low = None if self.own.low is None else self.own.low * share
        high = None if self.own.high is None else self.own.high * share
        return minus(self.difference, Interval(self.own.mean * share, low, high))

    @property
    def outcome(self) -> str:
        change = self.corrected or self.difference
        if change is None or not change.is_clear:
            return "not clearly worse"
        return "clearly better" if change.mean > 0 else "clearly worse"


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
    # The field with people's labels, which correct the difference if both files have them.
    label: str | None = None
    label_range: Range | None = None

    def __post_init__(self) -> None:
        self._found = _Found()
        self._before = defaultdict[int, list[_Earlier]](list)  # by prompt
        self._labels = LabelledRows([], self.label or "", self.label_range, scores=())
        self._check_options()
        if self.earlier is None:
            return
        names = set[str]()
        for row, score, given in self._read(self.earlier, self._found.before):
            names.update(row.fields)
            known = _Earlier(_texts(row), hash(row.asked), score, given)
            self._before[hash(row.known_by[0])].append(known)
        if self.label and self.label not in names:
            raise SetupError(f"--label {self.label}: no row of {self.earlier} has this field.")

    def _check_options(self) -> None:
        low, high = self.judge.rubric.scale
        if self.fail_under is not None and not self.fail_under <= high:
            raise SetupError(
                f"--fail-under {self.fail_under:g}: no mean reaches it on the scale {low} "
                f"to {high}."
            )
        if self.summary and self.summary.suffix == ".jsonl":
            raise SetupError(
                f"--summary {self.summary}: Markdown would damage the rows; name another file."
            )
        if self.earlier is None:
            if self.fail_if_worse:
                raise SetupError("--fail-if-worse: name the earlier output with --compare.")
        elif self.earlier.exists() and self.output.exists() and self.earlier.samefile(self.output):
            raise SetupError(
                f"--compare {self.earlier}: that is the output; give the earlier one another name."
            )

    def finish(self, missing: int, say: Callable[[str], None]) -> int | None:
        """Says the result, and returns its exit code, or None if there is no check.

        `missing` is the number of rows without a verdict.
        """
        is_check = self.fail_under is not None or self.fail_if_worse
        is_compared = self.earlier is not None
        if not (is_check or is_compared or self.summary):
            return None
        self._compare()
        findings = [*self._findings(missing)]
        results = {result for result, _ in findings}
        result = Result.PASSED
        for worse in (Result.FAILED, Result.CANNOT_TELL):
            if worse in results:
                result = worse
                break
        head = "Compared" if is_compared else "Scored"
        if is_check:
            head = f"Check {result.name.lower().replace('_', ' ')}"
        # A result that is not passed is explained by what led to it alone.
        why = "; ".join(words for each, words in findings if result in (each, Result.PASSED))
        figures = [*self._figures()]
        for figure in figures:
            before = f"{figure.before} before, now " if figure.before else ""
            say(f"{figure.name[0].upper()}{figure.name[1:]}: {before}{figure.now}.")
        say(f"{head}: {why}." if why else f"{head}.")
        if self.summary is not None:
            failure = f"--summary {self.summary}: cannot write it"
            with (
                explaining(failure),
                open(self.summary, "a", encoding="utf-8", opener=private) as file,
            ):
                file.write(self._to_markdown(figures, head, why))
        return result.value if is_check else None

    def _compare(self) -> None:
        found = self._found
        scale = self.judge.rubric.scale
        mean = MeanEstimator(scale)
        newly_unscored = MeanEstimator(Scale(-1, 1))
        for row, score, given in self._read(self.output, found.now):
            cluster = row.key("thread") or hash(row.known_by[0])
            if score is not None:
                mean.add(score, cluster=cluster)
            partner = self._partner(row)
            if partner is None:
                found.now.alone += 1
                continue
            before = partner.score
            newly_unscored.add(int(score is None) - int(before is None), cluster=cluster)
            if score is None or before is None:
                continue
            is_judged = row.get("score") is not None
            is_reworded = partner.prompt != hash(row.asked)
            pair = _Pair(before, score, cluster, partner.given, given, is_judged, is_reworded)
            if partner.texts is not None and partner.texts == _texts(row):
                found.same.append(pair)
                continue
            found.pairs.append(pair)
            if score < before:
                fall = _Fall(score - before, row.line, row.dialogue.question, before, score)
                found.fallen = nsmallest(_MOST_FALLEN, [*found.fallen, fall])
        found.before.alone = sum(map(len, self._before.values()))
        if estimate := mean.estimate():
            found.mean = estimate.judge
        if more := newly_unscored.estimate():
            found.has_more_unscored = (paired_difference(more).low or 0) > 0
        found.own = paired(((pair.now - pair.before, pair.cluster) for pair in found.same), scale)
        self._correct()

    def _partner(self, row: Row) -> _Earlier | None:
        """The earlier row with the same texts, or else the first that is left of its prompt."""
        partners = self._before[hash(row.known_by[0])]
        if not partners:
            return None
        texts = _texts(row)
        for at, partner in enumerate(partners):
            if texts is not None and partner.texts == texts:
                return partners.pop(at)
        return partners.pop(0)

    def _correct(self) -> None:
        """The difference of the pairs, by the judge and as people would score."""
        found = self._found
        low, high = self.judge.rubric.scale
        labelled = [pair for pair in found.pairs if pair.given and pair.given_before]
        all_given = [given for pair in labelled for given in (pair.given, pair.given_before)]
        change = MeanEstimator(Scale(low - high, high - low), Severities(all_given))
        for pair in found.pairs:
            has_labels = bool(pair.given and pair.given_before)
            change.add(
                pair.now - pair.before,
                given=pair.given if has_labels else (),
                less=pair.given_before if has_labels else (),
                cluster=pair.cluster,
            )
        estimate = change.estimate()
        if estimate is None:
            return
        found.difference = paired_difference(estimate)
        found.labels = estimate.labelled
        if not estimate.missing:
            found.people = estimate.corrected

    def _read(self, path: Path, tally: _Tally) -> Iterator[tuple[Row, int | None, Given]]:
        """The rows of an output, all of this judge, with the scores that they count as, and
        people's labels.
        """
        scale = self.judge.rubric.scale
        for row, is_empty in _read_outputs(path, self.judge):
            score = row.get("score")
            self._found.served.update(row.served)
            if is_empty:
                tally.empty += 1
                score = scale.low
            elif score is None:
                tally.unscored += 1
            else:
                tally.scored += 1
            given: Given = ()
            if self.label:
                read = self._labels.read(row, scale)
                given = read.given if read.is_blind else ()
            if self._labels.problems:
                raise SetupError(
                    f"{path}, {self._labels.problems[0]}; mend it, or say --scale with the "
                    "labels' own."
                )
            yield row, score, given

    def _figures(self) -> Iterator[_Figure]:
        found = self._found
        has_empty = found.before.empty or found.now.empty
        lowest = self.judge.rubric.scale.low
        yield self._counted("scored rows", "scored")
        if has_empty:
            yield self._counted(f"replies with nothing to judge, counted as {lowest}", "empty")
        more = ", clearly more" if found.has_more_unscored else ""
        name = "other unscored rows" if has_empty else "unscored rows"
        yield self._counted(name, "unscored", more)
        if self.earlier is not None:
            yield self._counted("rows without a partner", "alone")
        which = "all scored rows and these replies" if has_empty else "all scored rows"
        yield _Figure(f"mean of {which}", "", _say(found.mean))
        if found.same or found.pairs:
            own = _say(found.own, "+.2f") if found.same else "unknown"
            same = f"pairs with the same texts: {len(found.same):,}"
            yield _Figure(f"the judge's own difference ({same})", "", own)
        if found.pairs:
            yield from self._differences()
        reworded = sum(pair.is_reworded for pair in found.pairs)
        if reworded:
            yield _Figure("pairs by prompt_id whose prompts differ", "", f"{reworded:,}")

    def _counted(self, name: str, kind: str, more: str = "") -> _Figure:
        before = f"{getattr(self._found.before, kind):,}" if self.earlier is not None else ""
        return _Figure(name, before, f"{getattr(self._found.now, kind):,}{more}")

    def _differences(self) -> Iterator[_Figure]:
        found = self._found
        n = len(found.pairs)
        before = sum(pair.before for pair in found.pairs) / n
        now = sum(pair.now for pair in found.pairs) / n
        which = "other pairs" if found.same else "pairs"
        yield _Figure(f"mean of the {which} (n = {n:,})", f"{before:.2f}", f"{now:.2f}")
        few = ""
        if self.label and not found.people:
            few = f" ({found.labels} labelled in both, {MIN_LABELS} needed)"
        yield _Figure(f"difference, by the judge alone{few}", "", _say(found.difference, "+.2f"))
        change = found.corrected or found.difference
        seen = to_be_seen(change) if change else None
        if seen:
            yield _Figure(
                "a drop that would be clear in 4 of 5 such comparisons", "", f"{seen:.2f}"
            )
        if found.corrected:
            how = "without the judge's own"
            if found.people:
                how = f"corrected by the labels of {found.labels}"
            yield _Figure(f"difference, {how}", "", _say(found.corrected, "+.2f"))

    def _findings(self, missing: int) -> Iterator[tuple[Result, str]]:
        """What is said of the whole output, each with what follows from it."""
        found = self._found
        if missing:
            yield (
                Result.FAILED,
                f"rows without a verdict (failed calls, skipped lines or --max-cost): {missing:,}",
            )
        scored = found.now.scored
        if not scored:
            yield Result.FAILED, "no row has a score"
        elif 2 * scored < found.now.rows:
            yield Result.FAILED, f"only {scored:,} of {found.now.rows:,} rows scored"
        if found.mean and self.fail_under is not None:
            yield _beside_limit(found.mean.mean, self.fail_under)
        if self.earlier is not None:
            yield from self._findings_of_both(self.earlier)

    def _findings_of_both(self, earlier: Path) -> Iterator[tuple[Result, str]]:
        found = self._found
        failed = Result.FAILED if self.fail_if_worse else Result.PASSED
        pairs = len(found.pairs) + len(found.same)
        if not pairs:
            yield failed, f"no row has a score both now and in {earlier}"
        elif 2 * pairs < found.before.rows:
            many = f"only {pairs:,} of {found.before.rows:,} rows scored"
            yield failed, f"{many} both now and in {earlier}"
        if found.has_more_unscored:
            yield failed, f"clearly more rows are unscored than in {earlier}"
        if not pairs:
            return
        is_one_judge = found.corrected or self.takes_other_judge
        others = ", ".join(() if is_one_judge else answered_as(found.served))
        if not found.pairs:
            own = _change_of(found.own)
            yield (
                Result.PASSED,
                f"all pairs with {earlier} have the same texts: the judge alone gives {own}",
            )
        elif others:
            few = (
                f"{len(found.same)} of its pairs have the same texts, where {_SURE} would show "
                "what that changes"
            )
            yield (
                Result.CANNOT_TELL if self.fail_if_worse else Result.PASSED,
                f"{earlier} does not compare: model {others}, and {few}; score it "
                f"again, give {MIN_LABELS} labels in both (--label), or take both for one with "
                "--other-judge",
            )
        else:
            is_worse = found.outcome == "clearly worse"
            yield failed if is_worse else Result.PASSED, f"{found.outcome} than {earlier}"

    def _to_markdown(self, figures: Sequence[_Figure], head: str, why: str) -> str:
        rubric = self.judge.rubric
        samples = identity_of(self.judge)["samples"]
        by = f"{self.judge.model}, rubric {rubric.name} ({rubric.version}), samples: {samples}"
        parts = [f"\n### {head}", _escape(why, most=1000) if why else "", _to_table("", figures)]
        if self._found.fallen:
            fallen = [
                _Figure(_escape(fall.prompt), str(fall.before), str(fall.now))
                for fall in self._found.fallen
            ]
            parts.append(_to_table("fell most", fallen))
        parts.append(_escape(by, most=1000))
        if self.judge.model == OFFLINE:
            parts.append("The offline rater counted words: it is not a judge.")
        return "\n\n".join(part for part in parts if part) + "\n"


def _beside_limit(mean: float, limit: float) -> tuple[Result, str]:
    # Two decimals, unless they would round the mean up to the limit.
    figure = f"{mean:.2f}"
    if mean < limit <= float(figure):
        figure = f"{mean:.9g}"
    if mean < limit:
        return Result.FAILED, f"the mean {figure} is below {limit:.9g}"
    return Result.PASSED, f"the mean {figure} is not below {limit:.9g}"


def _to_table(title: str, figures: Sequence[_Figure]) -> str:
    rows = [(title, "before", "now"), ("---", "---", "---"), *figures]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _read_outputs(path: Path, judge: Judge) -> Iterator[tuple[Row, bool]]:
    """The rows of an output, and whether the reply of each is nothing to judge.

    For an output of another judge it raises SetupError.
    """
    low, high = judge.rubric.scale
    identity = identity_of(judge)
    for line, raw in read_lines(path):
        try:
            row = Row(line, decode(raw))
            _ = row.dialogue
            score = row.get("score")
            if "score" not in row.fields:
                raise ValueError("no score")
            if score is not None and not (type(score) is int and low <= score <= high):
                raise ValueError(f"score {shown(score)} is not a whole number from {low} to {high}")
            is_nothing = row.get("unscored_reason") == UnscoredReason.NOTHING_TO_JUDGE
            is_empty = is_nothing and _is_failure(row)
        except ValueError as exc:
            raise SetupError(
                f"{path}, line {line}: {exc}; give JSONL that 'judge batch' wrote."
            ) from exc
        for name, value in identity.items():
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
    question, response, _ = row.dialogue
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
        is_alike = max(-own.low, own.high) <= _ALIKE
        how = "the same" if is_alike else "neither clearly more nor less"
        return f"{how} ({own.low:+.2f} to {own.high:+.2f})"
    near, far = own.sizes
    return f"{abs(own.mean):.2f} {'more' if own.mean > 0 else 'less'} ({near:.2f} to {far:.2f})"


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
