"""Scored replies as one self-contained page for the browser: figures, template, style, script and
data.
"""

from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from hashlib import sha256
from html import escape
from itertools import chain
from math import floor
from pathlib import Path
from statistics import fmean
from string import Template
from typing import Any

from judge.evaluation.stats import estimate_mean
from judge.evaluation.topics import TITLES, Topic, count_topics
from judge.evaluation.view.replies import Replies, Reply, Version, clear_difference
from judge.rows.files import encode, refuse_foreign, replacing
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Scale

UNSCORED = "unscored"
"""The name of the bar of replies without a score."""


def to_figures(replies: Sequence[Reply]) -> dict[str, Any]:
    """The figures of the replies of one judge version, ready to show: `notes` and `bars`."""
    scale = scale_of(replies)
    scores = [reply.score for reply in replies if reply.score is not None]
    notes = []
    if scores:
        notes.append(
            f"Mean {fmean(scores):.2f} of {number_of(len(scores), 'score')}, by the judge alone: "
            "`judge agreement` compares it with people's labels."
        )
    if unscored := len(replies) - len(scores):
        notes.append(f"In no figure: {number_of(unscored, 'reply', 'replies')} without a score.")
    counts = Counter(to_bar(reply) for reply in replies)
    names = [UNSCORED, *map(str, range(scale.low, scale.high + 1))]
    bars = [{"name": name, "count": counts[name]} for name in reversed(names)]
    return {"notes": notes, "bars": bars}


def scale_of(replies: Sequence[Reply]) -> Scale:
    """The scale of one version's replies: that of a scored reply, because that of an unscored one
    may be unknown.
    """
    return next((reply.scale for reply in replies if reply.score is not None), replies[0].scale)


def to_bar(reply: Reply) -> str:
    """The name of the bar in which a reply is counted: its score to the nearest whole number,
    halves up.
    """
    return UNSCORED if reply.score is None else str(floor(reply.score + 0.5))


def to_trend(replies: Sequence[Reply]) -> list[dict[str, Any]]:
    """The judge's own mean for each week with a score, for replies of one version; empty without
    times.
    """
    scores = defaultdict[date, list[tuple[float, Hashable]]](list)
    for reply in replies:
        if reply.score is not None and reply.judged_at is not None:
            day = reply.judged_at.date()
            scores[day - timedelta(days=day.weekday())].append((reply.score, reply.cluster))
    points = []
    for start, own in sorted(scores.items()):
        if found := estimate_mean(own, scale_of(replies)):
            points.append({"start": start.isoformat(), "n": found.n, **found.judge._asdict()})
    return points


_MARK = b"<!doctype html>\n<!-- a page of slack-judge -->\n"
# `<` could end the script element, or begin a comment in it; the others end a line if JSON is read
# as JavaScript.
_ESCAPED = {ord(each): f"\\u{ord(each):04x}" for each in "<\u2028\u2029"}


def hashes_of(style: str, script: str) -> dict[str, str]:
    """What a page's policy names them by, so that nothing else runs in it."""
    return {
        f"{name}_hash": f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for name, text in (("style", style), ("script", script))
    }


def save_page(path: Path, title: str, replies: Replies) -> int:
    """Writes the page, readable only by its owner, and returns its size in bytes."""
    refuse_foreign(path, _MARK, "a page of slack-judge", "-o")
    head, tail = _page(title)
    parts = chain([_MARK.decode(), head], _data(title, replies), [tail])
    with replacing(path, hint="; name another file with -o") as file:
        return sum(file.write(part.encode()) for part in parts)


def _page(title: str) -> tuple[str, str]:
    """The page before its data, and after."""
    names = ("page.html", "page.css", "parts.js", "page.js")
    files = (Path(__file__).with_name(name) for name in names)
    page, style, parts, script = (each.read_text(encoding="utf-8") for each in files)
    script = parts + script
    fixed = {"style": style, "script": script, **hashes_of(style, script)}
    # What fills a slot is not searched for slots: a text may contain what looks like one.
    head, tail = page.split("$data")
    words = escape(title)
    return (
        Template(head).substitute(fixed, title=words),
        Template(tail).substitute(fixed, title=words),
    )


def to_topics(replies: Sequence[Reply], topics: Iterable[str | None]) -> list[Topic]:
    """What is counted of the topics of one judge version's replies."""
    rows = (
        (topic, reply.score, reply.cluster or reply.question)
        for reply, topic in zip(replies, topics, strict=True)
    )
    return count_topics(rows, scale_of(replies))


def by_version(replies: Iterable[Reply]) -> Mapping[Version, Sequence[Reply]]:
    groups: dict[Version, list[Reply]] = {}
    for reply in replies:
        groups.setdefault(reply.version, []).append(reply)
    return groups


def _topics(replies: Sequence[Reply]) -> list[list[str]]:
    """The table of topics; empty if no reply has one."""
    topics = [reply.topic for reply in replies]
    return [topic.cells for topic in to_topics(replies, topics)] if any(topics) else []


def _data(title: str, replies: Replies) -> Iterator[str]:
    groups = by_version(replies.replies)
    versions = [
        {
            "name": version.name,
            "scale": scale_of(own),
            "differs": clear_difference(scale_of(own)),
            **to_figures(own),
            "trend": to_trend(own),
            "topics": _topics(own),
        }
        for version, own in groups.items()
    ]
    head = {
        "title": title,
        "left_out": replies.left_out,
        "versions": versions,
        "titles": TITLES,
    }
    numbers = {version: number for number, version in enumerate(groups)}
    yield _to_json(head)[:-1] + ', "replies": [\n'
    for number, reply in enumerate(replies.replies):
        yield (",\n" if number else "") + _to_json(_fields(reply, numbers[reply.version]))
    yield "\n]}"


def _fields(reply: Reply, version: int) -> dict[str, Any]:
    """A reply as the script reads it; empty values are left out."""
    fields = {
        **reply.shown,
        "question": reply.question,
        "score": reply.score,
        "miss": reply.miss,
        "differs": reply.differs,
        "version": version,
        "bar": to_bar(reply),
        "labels": reply.labels,
    }
    return {
        name: value
        for name, value in fields.items()
        if value or (value == 0 and value is not False)
    }


def _to_json(value: object) -> str:
    return encode(value).translate(_ESCAPED)
