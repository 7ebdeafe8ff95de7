"""Asks a judge again about rows that it scored: does it still give what it gave?"""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from random import sample

from judge.errors import SetupError
from judge.evaluation.check import change_of, read_outputs
from judge.evaluation.stats import paired
from judge.rows.journal import answered_as
from judge.rows.row_file import Row
from judge.scoring.judging import Judge

_HINT = "Name the judge that gave these scores, with --model and its other options."


def draw(scored: Path, judge: Judge, number: int, asked: Collection[int]) -> Collection[int]:
    """Random lines with a score of this judge, and those that an interrupted run has `asked` about."""
    lines = [
        row.line for row, _ in read_outputs(scored, judge, _HINT) if row.get("score") is not None
    ]
    if not lines:
        raise SetupError(f"{scored}: no row has a score, so there is nothing to ask about again.")
    others = [line for line in lines if line not in asked]
    return {*asked, *sample(others, min(max(number - len(asked), 0), len(others)))}


def compare(output: Path, judge: Judge) -> tuple[int, Sequence[str]]:
    """What the judge gives now, beside the scores that the rows of an output had before, in
    sentences.

    The number is 0 if that is not clearly more or less, 1 if it is, and 2 if it cannot be told.
    """
    changes, served = list[tuple[float, object]](), Counter[tuple[str, str]]()
    has_differed, is_repeated = False, True
    for row, _ in read_outputs(output, judge, _HINT):
        served.update([*row.served, *Row(0, {"ratings": row.get("input_ratings")}).served])
        if row.get("score") is not None:
            changes.append(
                (row.get("score") - row.get("input_score"), row.key("thread") or row.known_by[0])
            )
            has_differed |= bool(row.get("input_spread"))
            is_repeated &= all(
                row.get(name) == row.get(f"input_{name}") for name in ("mean", "justification")
            )
    names = [f"Model {each}." for each in answered_as(served)]
    own, n = paired(changes, judge.rubric.scale), len(changes)
    if own is None or own.low is None or own.high is None:
        return 2, [*names, f"Asked again about {n:,} rows: too few to tell."]
    if has_differed and is_repeated:
        return 2, [
            *names,
            f"Asked again about {n:,} rows, every answer is the same to the last word, although "
            "ratings used to differ: a cache answered, so it cannot be told whether the judge "
            "has changed.",
        ]
    return int(own.is_clear), [
        *names,
        f"Asked again about {n:,} rows: the judge gives {change_of(own)}.",
    ]
