"""How `parse_rating` reads a file of real judge outputs: `python bench/parser_report.py outputs.jsonl`.

Rows are `{"raw": ..., "scale": [low, high], "true_score": number or null, "id"?: ...}`; null means that a careful
reader finds no verdict. A decimal `true_score` cannot be read on a scale of whole numbers and is counted apart.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from judge import Rating, parse_rating


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare parse_rating with labelled judge outputs.")
    parser.add_argument("path", type=Path, help="a JSONL file with raw, scale and true_score")
    rows = [json.loads(line) for line in parser.parse_args().path.read_text(encoding="utf-8").splitlines()]
    outcomes = [(row, *read(row)) for row in rows]
    counts = Counter(outcome for _, outcome, _ in outcomes)
    labelled = sum(row["true_score"] is not None for row in rows)
    for outcome in (
        "read right",
        "read wrong",
        "scored without a verdict",
        "missed",
        "missed: decimal",
        "left unscored",
    ):
        print(f"{outcome:<26}{counts[outcome]:>6}")
    print(f"{'with a verdict':<26}{labelled:>6}, of which read {counts['read right'] / max(labelled, 1):.1%}")
    print(
        "\nreasons for what was missed:", dict(Counter(said for _, kind, said in outcomes if kind.startswith("missed")))
    )
    for row, outcome, said in outcomes:
        if outcome in ("read wrong", "scored without a verdict", "missed"):
            print(f"  {row.get('id', '?')}: {outcome}, label {row['true_score']}, parser {said}")
    return 1 if counts["read wrong"] + counts["scored without a verdict"] else 0


def read(row: dict[str, Any]) -> tuple[str, str]:
    """What became of one row, and what the parser said."""
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
