"""Scored replies as one self-contained page for the browser: figures, template, style, script and
data.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from hashlib import sha256
from html import escape
from itertools import chain
from math import ceil, floor
from pathlib import Path
from statistics import fmean
from string import Template
from typing import Any

from judge.evaluation import stats
from judge.evaluation.estimate import Estimator, OneScore, how_near, why_rough
from judge.evaluation.labelled import mean_labels
from judge.evaluation.view.replies import Label, Replies, Reply, Version, clear_difference
from judge.rows.files import encode, refuse_foreign, replacing
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Scale

UNSCORED = "unscored"
"""The name of the bar of replies without a score."""


def to_figures(replies: Sequence[Reply]) -> dict[str, Any]:
    """The figures of the replies of one judge version, ready to show: `facts`, `notes` and `bars`."""
    scale = scale_of(replies)
    is_drawn = any(_used(reply, is_drawn=True) for reply in replies)
    estimator = Estimator(scale)
    pairs = list[tuple[float, float, str | None]]()
    for reply in replies:
        if reply.score is not None:
            used = _used(reply, is_drawn)
            pairs += (
                [(reply.score, fmean(each.score for each in used), reply.cluster)] if used else []
            )
            probability = used[0].probability or 1.0 if used else 1.0
            given = [(each.by, each.score) for each in used]
            estimator.add(OneScore(reply.score, given, probability, reply.cluster, reply.stratum))
    facts: list[dict[str, Any]] = []
    notes: list[str] = []
    if found := estimator.estimate():
        mean, good = found
        is_blind = all(label.is_blind for reply in replies for label in _used(reply, is_drawn))
        by = f"corrected by {number_of(mean.labelled, 'blind label' if is_blind else 'label')}"
        facts += _facts("Mean", by, mean, scale, ".2f")
        facts += _facts(f"Good ({estimator.good_from} or more)", by, good, Scale(0, 1), ".0%")
        notes += [
            *_notes(mean, is_blind),
            *how_near(stats.error_quantile(estimator.misses), len(pairs), scale),
        ]
        notes += estimator.severities.words()
    notes += _left_out(replies, len(pairs))
    counts = Counter(to_bar(reply) for reply in replies)
    names = [
        _bar_name(start, scale) for start in range(scale.low, scale.high + 1, _bar_width(scale))
    ]
    bars = [{"name": name, "count": counts[name]} for name in [*reversed(names), UNSCORED]]
    at = [
        {"score": score, "labels": mean.n, **_to_fact(mean.judge, scale, ".1f")}
        for score, mean in reversed(mean_labels(pairs, scale))
    ]
    return {
        "facts": facts,
        "notes": notes,
        "bars": bars,
        "calibration": at if _bar_width(scale) == 1 else [],
    }


def scale_of(replies: Sequence[Reply]) -> Scale:
    """The scale of one version's replies: that of a scored reply, because that of an unscored one
    may be unknown.
    """
    return next((reply.scale for reply in replies if reply.score is not None), replies[0].scale)


def _used(reply: Reply, is_drawn: bool) -> Sequence[Label]:
    """The labels that correct the figures: none given after the score was seen; all have a
    probability, or none has.
    """
    if reply.score is None:
        return ()
    return [
        each
        for each in reply.labels
        if each.is_blind is not False and is_drawn == (each.probability is not None)
    ]


def _facts(
    what: str, by: str, mean: stats.MeanEstimate, scale: Scale, form: str
) -> Iterator[dict[str, Any]]:
    """The judge's own figure, which matches the bars, and the same figure corrected by people's
    labels.
    """
    for whose, found in (("by the judge", mean.judge), (by, mean.corrected)):
        if found:
            yield {"title": f"{what}, {whose}", **_to_fact(found, scale, form)}


def _to_fact(found: stats.Interval, scale: Scale, form: str) -> dict[str, Any]:
    if found.low is None or found.high is None:
        return {"value": format(found.mean, form), "range": "of unknown precision"}
    ends = (found.low, found.mean, found.high)
    places = [round((value - scale.low) / (scale.high - scale.low), 4) for value in ends]
    range_ = f"between {found.low:{form}} and {found.high:{form}}"
    return {"value": format(found.mean, form), "range": range_, "places": places}


def _notes(mean: stats.MeanEstimate, is_blind: bool) -> Iterator[str]:
    scores = number_of(mean.n, "score")
    if mean.corrected is None:
        yield (
            f"{scores} by the judge alone: the range is for other replies like these, and says "
            f"nothing of how far the judge is from people. {stats.MIN_LABELS} labels given blind "
            "would tell."
        )
        return
    yield (
        f"{scores}. The judge's range is for other replies like these; the corrected range allows "
        "for how far the judge is from people, too."
    )
    if not is_blind:
        yield (
            "The file does not say that all these labels are blind: people who see the score "
            "first tend to agree with it, and then the correction is too small."
        )
    yield from why_rough(mean)


def _left_out(replies: Sequence[Reply], used: int) -> Iterator[str]:
    if unscored := sum(reply.score is None for reply in replies):
        yield f"In no figure: {number_of(unscored, 'reply', 'replies')} without a score."
    if unused := sum(reply.score is not None and bool(reply.labels) for reply in replies) - used:
        yield (
            f"In no figure: the labels of {number_of(unused, 'reply', 'replies')}, given after "
            "the score was seen or without the probability of the draw."
        )


def to_bar(reply: Reply) -> str:
    """The name of the bar in which a reply is counted: its score to the nearest whole number,
    halves up.
    """
    return UNSCORED if reply.score is None else _bar_name(floor(reply.score + 0.5), reply.scale)


def _bar_width(scale: Scale) -> int:
    return ceil((scale.high - scale.low + 1) / 11)  # at most eleven bars


def _bar_name(score: int, scale: Scale) -> str:
    width = _bar_width(scale)
    start = score - (score - scale.low) % width
    end = min(start + width - 1, scale.high)
    return str(start) if start == end else f"{start} to {end}"


def to_trend(replies: Iterable[Reply], is_by_day: bool) -> list[dict[str, Any]]:
    """The judge's own mean for each day or week with a score, for replies of one version; empty
    without times.
    """
    estimators: dict[date, stats.MeanEstimator] = {}
    for reply in replies:
        if reply.score is not None and reply.judged_at is not None:
            day = reply.judged_at.date()
            start = day if is_by_day else day - timedelta(days=day.weekday())
            estimators.setdefault(start, stats.MeanEstimator(reply.scale)).add(
                reply.score, cluster=reply.cluster
            )
    points = ((start, estimator.estimate()) for start, estimator in sorted(estimators.items()))
    return [
        {"start": start.isoformat(), "n": found.n, **found.judge._asdict()}
        for start, found in points
        if found
    ]


def is_by_day(replies: Iterable[Reply]) -> bool:
    """Whether all replies were judged within a month, so that the trend is by day; otherwise it is
    by week.
    """
    days = [reply.judged_at.date() for reply in replies if reply.judged_at]
    return bool(days) and (max(days) - min(days)).days < 31


_MARK = b"<!doctype html>\n<!-- a page of slack-judge -->\n"
# `<` could end the script element, or begin a comment in it; the others end a line if JSON is read
# as JavaScript.
_ESCAPED = {ord(each): f"\\u{ord(each):04x}" for each in "<\u2028\u2029"}


def save_page(path: Path, title: str, replies: Replies) -> int:
    """Writes the page, readable only by its owner, and returns its size in bytes."""
    refuse_foreign(path, _MARK, "a page of slack-judge", "-o")
    files = (Path(__file__).with_name(f"page.{kind}") for kind in ("html", "css", "js"))
    page, style, script = (each.read_text(encoding="utf-8") for each in files)
    hashes = [
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script)
    ]
    fixed = {"style": style, "script": script, "style_hash": hashes[0], "script_hash": hashes[1]}
    # What fills a slot is not searched for slots: a text may contain what looks like one.
    head, tail = (
        Template(part).substitute(fixed, title=escape(title)) for part in page.split("$data")
    )
    with replacing(path, hint="; name another file with -o") as file:
        return sum(
            file.write(part.encode())
            for part in chain([_MARK.decode(), head], _data(title, replies), [tail])
        )


def _data(title: str, replies: Replies) -> Iterator[str]:
    groups: dict[Version, list[Reply]] = {}
    for reply in replies.replies:
        groups.setdefault(reply.version, []).append(reply)
    by_day = is_by_day(replies.replies)
    versions = [
        {
            "name": version.name,
            "scale": scale_of(own),
            "differs": clear_difference(scale_of(own)),
            **to_figures(own),
            "trend": to_trend(own, by_day),
        }
        for version, own in groups.items()
    ]
    unit = "day" if by_day else "week"
    head = {"title": title, "left_out": replies.left_out, "unit": unit, "versions": versions}
    numbers = {version: number for number, version in enumerate(groups)}
    yield _to_json(head)[:-1] + ', "replies": [\n'
    for number, reply in enumerate(replies.replies):
        yield (",\n" if number else "") + _to_json(_fields(reply, numbers[reply.version]))
    yield "\n]}"


def _fields(reply: Reply, version: int) -> dict[str, Any]:
    """A reply as the script reads it; empty values are left out."""
    same = "name", "score", "question", "reference", "response", "justification", "unscored"
    fields = {
        name: getattr(reply, name) for name in (*same, "miss", "differs", "flags", "facts")
    } | {
        "version": version,
        "bar": to_bar(reply),
        "before": [(each.role, each.text) for each in reply.before],
        "ratings": reply.ratings,
        "labels": [
            {"score": each.score, "blind": each.is_blind, "reason": each.reason}
            for each in reply.labels
        ],
    }
    return {
        name: value
        for name, value in fields.items()
        if value or (value == 0 and value is not False)
    }


def _to_json(value: object) -> str:
    return encode(value).translate(_ESCAPED)
