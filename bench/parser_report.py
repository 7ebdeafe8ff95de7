"""How `parse_rating` reads files of real judge outputs: `python bench/parser_report.py
outputs.jsonl more.jsonl`.

Rows are `{"raw": ..., "scale": [low, high], "true_score": number or null, "id"?: ...}`; null means
that a careful reader finds no verdict. A decimal `true_score` cannot be read on a scale of whole
numbers and is counted separately. Missed scores are also printed by score: if most are at one end
of the scale, every mean is biased.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge import Rating, parse_rating

OUTCOMES = (
    "read right",
    "read wrong",
    "scored without a verdict",
    "missed",
    "missed: decimal",
    "left unscored",
)
FAILURES = ("read wrong", "scored without a verdict", "missed")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Compare parse_rating with labelled judge outputs."
    )
    parser.add_argument(
        "paths", type=Path, nargs="+", help="JSONL files with raw, scale and true_score"
    )
    return max(report(path) for path in parser.parse_args().paths)


def report(path: Path) -> int:
    """Prints how the rows of one file are read; returns 1 if a score is wrong or invented,
    otherwise 0.
    """
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    outcomes = [(row, *read(row)) for row in rows]
    counts = Counter(outcome for _, outcome, _ in outcomes)
    whole = counts["read right"] + counts["read wrong"] + counts["missed"]
    print(f"{path.name}: {len(rows)} outputs")
    for outcome in OUTCOMES:
        print(f"{outcome:<26}{counts[outcome]:>6}")
    print(
        f"{'whole-number verdicts':<26}{whole:>6}, of which read "
        f"{counts['read right'] / max(whole, 1):.1%}"
    )
    print_unread_by_score([(row["true_score"], outcome) for row, outcome, _ in outcomes])
    missed = Counter(said for _, kind, said in outcomes if kind == "missed")
    print("reasons for what was missed:", dict(missed))
    for row, outcome, said in outcomes:
        if outcome in FAILURES:
            print(f"  {row.get('id', '?')}: {outcome}, label {row['true_score']}, parser {said}")
    print()
    return 1 if counts["read wrong"] + counts["scored without a verdict"] else 0


def print_unread_by_score(outcomes: Sequence[tuple[float | None, str]]) -> None:
    seen = Counter(score for score, _ in outcomes)
    unread = Counter(score for score, outcome in outcomes if outcome == "missed")
    print("unread by score:")
    for score in sorted(score for score in seen if score is not None and float(score).is_integer()):
        print(
            f"{score:>6.0f}{unread[score]:>8} of "
            f"{seen[score]:<6}{unread[score] / seen[score]:>6.1%}"
        )


def read(row: dict[str, Any]) -> tuple[str, str]:
    """The outcome for one row, and the parser's score or its reason for none."""
    result = parse_rating(row["raw"], (row["scale"][0], row["scale"][1]))
    label = row["true_score"]
    if isinstance(result, Rating):
        if label is None:
            return "scored without a verdict", str(result.score)
        return ("read right" if result.score == label else "read wrong"), str(result.score)
    if label is None:
        return "left unscored", result.reason.value
    return ("missed" if float(label).is_integer() else "missed: decimal"), result.reason.value


if __name__ == "__main__":
    sys.exit(main())
