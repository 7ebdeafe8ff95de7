"""Plots of agreement: one heat map for each judge, as PNG or as a self-contained HTML page."""

import re
from html import escape
from io import StringIO
from math import ceil
from pathlib import Path
from string import Template
from textwrap import fill

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judge.evaluation.agreement.measures import confusion
from judge.evaluation.agreement.report import Comparison, Report
from judge.rows.files import explaining, private, refuse_foreign

_MARK = "figures of slack-judge"


def save_plot(path: Path, report: Report, text: str) -> None:
    """Writes the confusion matrices to a .png, or together with the report's `text` to a .html.

    Those of the largest groups follow that of all responses.
    """
    refuse_foreign(path, _MARK.encode(), "a plot of judge agreement", "--plot")
    figure = draw(report)
    with explaining(f"--plot {path}: cannot write the file"):
        if path.suffix == ".png":
            with open(path, "wb", opener=private) as file:
                figure.savefig(file, format="png", dpi=150, metadata={"Software": _MARK})
        else:
            svg = StringIO()
            with rc_context({"svg.fonttype": "none", "svg.hashsalt": "judge"}):
                figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
            picture = re.sub(
                r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", svg.getvalue(), flags=re.DOTALL
            )
            page = Template(Path(__file__).with_name("plot.html").read_text(encoding="utf-8"))
            with open(path, "w", encoding="utf-8", opener=private) as file:
                file.write(page.substitute(picture=picture, text=escape(text)))


def draw(report: Report) -> Figure:
    groups = [
        (f"{group}, {each.judge}", each) for group, each in report.by_group[:12]
    ]  # a picture for each
    comparisons = [*((each.judge, each) for each in report.with_people), *groups]
    across = min(3, len(comparisons))
    down = ceil(len(comparisons) / across)
    figure = Figure(figsize=(4.6 * across, 4.9 * down), layout="constrained")
    places = figure.subplots(down, across, squeeze=False).ravel()
    for place, (title, comparison) in zip(places, comparisons, strict=False):
        _draw_one(place, title, comparison)
    for place in places[len(comparisons) :]:
        place.remove()
    return figure


def _draw_one(axes: Axes, title: str, comparison: Comparison) -> None:
    counts = confusion(comparison.sample)
    (low, high) = comparison.sample.scale
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    edges = np.arange(low, high + 2) - 0.5
    axes.pcolormesh(edges, edges, shares, cmap="Blues", vmin=0, vmax=shares.max())
    axes.invert_yaxis()
    if len(counts) <= 11:  # more numbers would not fit
        for (row, column), count in np.ndenumerate(counts):
            color = "white" if shares[row, column] > 0.6 * shares.max() else "#222"
            axes.text(
                column + low,
                row + low,
                f"{count:,}",
                ha="center",
                va="center",
                color=color,
                fontsize=9,
            )
        axes.set_xticks(range(low, high + 1))
        axes.set_yticks(range(low, high + 1))
    for score, (mean, lowest, highest) in comparison.calibration:
        ends = [each for each in (lowest, mean, highest) if each is not None]
        axes.plot([score + 0.3] * len(ends), ends, color="#c2410c")
        axes.plot(score + 0.3, mean, "o", color="#c2410c", markersize=4)
    axes.set_title(f"{fill(title, 36)}\n{len(comparison.sample.scores):,} responses", fontsize=11)
    axes.set_xlabel("judge's score")
    axes.set_ylabel("people's label (shade: share of the row; dots: means)")
