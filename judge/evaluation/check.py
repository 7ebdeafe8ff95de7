"""Checks an output of `judge batch`, for example in a pull request: against a lowest mean and an
earlier output.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from judge.errors import SetupError
from judge.evaluation.check_text import figures_of, to_markdown, to_sentences
from judge.evaluation.comparison import SURE, Comparison, mean_of
from judge.evaluation.labelled import Range
from judge.evaluation.outputs import Output, read_output
from judge.evaluation.planning import more_to_see
from judge.evaluation.stats import MIN_LABELS, MeanEstimate, MeanEstimator
from judge.rows.files import explaining, private
from judge.rows.journal import answered_as
from judge.scoring.judging import Judge
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Scale

_DROP = 1.0  # the drop, in points, that a check should be able to see


class Result(Enum):
    """What a check says; the value is the exit code."""

    PASSED = 0
    FAILED = 1
    CANNOT_TELL = 2

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", " ")


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
    by: str | None = None  # the field with the groups within which means are compared
    takes_other_questions: bool = False  # outputs without a common question are of one stream

    def __post_init__(self) -> None:
        self._check_options()
        self._before: Output | None = None
        if self.earlier is None:
            return
        self._before = self._read(self.earlier)
        if not self._before.rows:
            raise SetupError(f"--compare {self.earlier}: there is no row to compare with.")
        for option, name in (("--label", self.label), ("--by", self.by)):
            if name and name not in self._before.fields:
                raise SetupError(f"{option} {name}: no row of {self.earlier} has this field.")

    def _read(self, path: Path) -> Output:
        return read_output(path, self.judge, self.label, self.label_range, self.by)

    def _check_options(self) -> None:
        if self.earlier is None:
            for option, is_given in (("--fail-if-worse", self.fail_if_worse), ("--by", self.by)):
                if is_given:
                    raise SetupError(f"{option}: name the earlier output with --compare.")
        elif self.earlier.exists() and self.output.exists() and self.earlier.samefile(self.output):
            raise SetupError(
                f"--compare {self.earlier}: that is the output; give the earlier one another name."
            )

    def finish(self, missing: int, say: Callable[[str], None]) -> int | None:
        """Says the result, and returns its exit code, or None if there is no check.

        `missing` is the number of rows without a verdict.
        """
        is_check = self.fail_under is not None or self.fail_if_worse
        if not (is_check or self.earlier or self.summary):
            return None
        output = self._read(self.output)
        scale = self.judge.rubric.scale
        compared = self._compare(output)
        mean = mean_of(output.rows, scale)
        findings = [*self._findings(output, mean, compared, missing)]
        result = _worst(result for result, _ in findings)
        head = "Compared" if compared else "Scored"
        if is_check:
            head = f"Check {result.words}"
        # A result that is not passed is explained by what led to it alone.
        why = "; ".join(words for each, words in findings if result in (each, Result.PASSED))
        figures = [*figures_of(output, mean, compared, scale)]
        for sentence in to_sentences(figures, compared):
            say(sentence)
        say(f"{head}: {why}." if why else f"{head}.")
        if self.summary is not None:
            text = to_markdown(self.judge, figures, head, why, self.output, compared)
            _append(text, self.summary)
        return result.value if is_check else None

    def _compare(self, output: Output) -> Comparison | None:
        if self._before is None or not output.rows:
            return None
        return Comparison(self._before, output, self.judge.rubric.scale)

    def _findings(
        self,
        output: Output,
        mean: MeanEstimate | None,
        compared: Comparison | None,
        missing: int,
    ) -> Iterator[tuple[Result, str]]:
        """What is said of the whole output, each with what follows from it."""
        if missing:
            yield (
                Result.FAILED,
                f"rows without a verdict (failed calls, skipped lines or --max-cost): {missing:,}",
            )
        rows = len(output.rows)
        if not output.scored:
            yield Result.FAILED, "no row has a score"
        elif 2 * output.scored < rows:
            yield Result.FAILED, f"only {output.scored:,} of {rows:,} rows scored"
        if mean and self.fail_under is not None:
            yield _beside_limit(mean, self.fail_under)
        if compared and self.earlier:
            yield from self._findings_of_both(compared, self.earlier)

    def _findings_of_both(
        self, compared: Comparison, earlier: Path
    ) -> Iterator[tuple[Result, str]]:
        failed = Result.FAILED if self.fail_if_worse else Result.PASSED
        pairs = len(compared.pairs) + len(compared.same)
        before = len(compared.before.rows)
        if compared.has_more_unscored:
            yield failed, f"clearly more rows are unscored than in {earlier}"
        if not compared.by_means and 2 * pairs < before:
            many = f"only {pairs:,} of {before:,} rows scored"
            yield failed, f"{many} both now and in {earlier}"
        if compared.means is None and not compared.same:
            yield failed, f"too few rows have a score, now or in {earlier}"
        elif compared.pairs or compared.by_means:
            yield self._finding_of_scores(compared, earlier)
        else:
            yield (
                Result.PASSED,
                f"all pairs with {earlier} have the same texts, so this compares the judge with "
                "itself",
            )

    def _finding_of_scores(self, compared: Comparison, earlier: Path) -> tuple[Result, str]:
        unknown = Result.CANNOT_TELL if self.fail_if_worse else Result.PASSED
        is_one_judge = compared.corrected or self.takes_other_judge
        served = compared.before.served + compared.now.served
        if others := ", ".join(() if is_one_judge else answered_as(served)):
            few = (
                f"{len(compared.same)} of its pairs have the same texts, where {SURE} would show "
                "what that changes"
            )
            return (
                unknown,
                f"{earlier} does not compare: model {others}, and {few}; score it "
                f"again, give {MIN_LABELS} labels in both (--label), or take both for one with "
                "--other-judge",
            )
        if compared.outcome == "not clearly worse" and not compared.could_fail:
            return unknown, _too_few(compared)
        is_worse = self.fail_if_worse and compared.outcome == "clearly worse"
        result = Result.FAILED if is_worse else Result.PASSED
        words = f"{compared.outcome} than {earlier}"
        if compared.by_means:
            words += ", but the questions differ, so this may be theirs"
            # As many easier questions could also hide that replies got worse.
            if not (compared.groups or self.takes_other_questions):
                result = unknown
                words += (
                    "; compare within the values of a field (--by), or take both for samples "
                    "of one stream with --other-questions"
                )
        return result, words


def _append(text: str, summary: Path) -> None:
    with (
        explaining(f"--summary {summary}: cannot write it"),
        open(summary, "a", encoding="utf-8", opener=private) as file,
    ):
        file.write(text)


def _worst(results: Iterable[Result]) -> Result:
    """A failure, or else a doubt."""
    order = (Result.PASSED, Result.CANNOT_TELL, Result.FAILED)
    return max(results, key=order.index, default=Result.PASSED)


def _beside_limit(found: MeanEstimate, limit: float) -> tuple[Result, str]:
    mean = found.judge.mean
    figure = f"{mean:.3f}"
    if mean < limit:
        return Result.FAILED, f"the mean {figure} is below {limit:.9g}"
    needed = _rows_to_fail(found.scale, limit)
    if found.independent < needed:
        return (
            Result.CANNOT_TELL,
            f"the mean {figure} is of {number_of(found.independent, 'question')}, and fewer than "
            f"{needed:,} could not be clearly below {limit:.9g}",
        )
    return Result.PASSED, f"the mean {figure} is not below {limit:.9g}"


def _rows_to_fail(scale: Scale, limit: float) -> int:
    """How many rows with the lowest score are clearly below a limit; 0 if none can be."""
    for number in range(2, 1001):
        mean = MeanEstimator(scale)
        mean.add(scale.low, times=number)
        found = mean.estimate()
        if found and found.judge.high is not None and found.judge.high < limit:
            return number
    return 0


def _too_few(compared: Comparison) -> str:
    """That nothing could have failed, with what it would take."""
    n = int(compared.n)
    if compared.by_means:
        return f"{number_of(n, 'independent row')} cannot show a drop on this scale"
    few = f"{number_of(n, 'independent pair')} cannot show a drop on this scale"
    more = more_to_see(compared.change, compared.n, _DROP) if compared.change else None
    return few if more is None else f"{few}; {more:,} would show one of a point"
