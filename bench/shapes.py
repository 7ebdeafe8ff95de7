"""Distributions of scores from 0 to 5, as assistants have them, and a table's row."""

from collections.abc import Mapping

from judge.scoring.rubric import Scale

SCALE = Scale(0, 5)
Shape = tuple[float, ...]
SHAPES: Mapping[str, Shape] = {
    "piled up on 4 and 5": (0.01, 0.01, 0.03, 0.10, 0.45, 0.40),
    "spread": (0.08, 0.12, 0.20, 0.25, 0.20, 0.15),
    "two peaks, 0 and 5": (0.30, 0.05, 0.05, 0.05, 0.10, 0.45),
    "5, rarely 0": (0.05, 0, 0, 0, 0, 0.95),
    "zeros and fives": (0.30, 0, 0, 0, 0, 0.70),
}


def mean(shape: Shape) -> float:
    return sum(score * share for score, share in enumerate(shape))


def row(*cells: object) -> None:
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)
