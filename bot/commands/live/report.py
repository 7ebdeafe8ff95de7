"""What a check on a real workspace has found, in a form that may be shown: names of fields and
types, no contents.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bot.errors import BotError

LIMIT_MS = 3000
"""Slack waits this long for an acknowledgement; a call that takes longer would be too late for one."""

NOT_DONE, BY_HTTP, NOBODY = "not done", "HTTP mode", "no person is in the channel"


def _clean(words: object) -> str:
    return re.sub(r"[^\w .,;:*\[\]/+-]", "", str(words))[:200]


Plain = Annotated[str, BeforeValidator(_clean)]
"""A report comes from strangers too: nothing in it moves a terminal's cursor or is HTML, and no address fits."""

_KEY = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_ID = re.compile(r"[A-Z][A-Z0-9]{7,13}")
_TIMESTAMP = re.compile(r"\d{9,11}\.\d{1,6}")
_CODE = re.compile(r"[a-z][a-z0-9_]{0,59}|HTTP \d{3}|no answer")
# What is below it is keyed by ids of blocks and then of elements, some of which Slack makes at
# random.
_KEYED_BY_IDS = ("values", "values.*")
_NOT_THERE = {
    "missing_scope",
    "not_enabled",
    "unknown_method",
    "not_allowed_token_type",
    NOT_DONE,
    BY_HTTP,
    NOBODY,
}
_MOST_KINDS = 9  # of which most are ids in a list


class Step(BaseModel):
    """What Slack answered or sent at one step: its fields and their types, or why there was
    nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    step: Plain
    took_ms: int | None = None
    why: Plain = ""
    fields: dict[Plain, Plain] = Field(default_factory=dict)
    outcome: Literal["equal", "different", "not possible"] = "equal"
    differences: tuple[Plain, ...] = ()


class Report(BaseModel):
    """`slack_judge` is the app's version, `models` what was asked of the model and what came, for
    each way to ask.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    day: Plain
    system: Plain
    slack_judge: Plain
    python: Plain
    steps: tuple[Step, ...]
    models: tuple[dict[Plain, Plain], ...] = ()


def reason(code: str) -> str:
    """An error code of Slack's as a report shows it; anything else could be somebody's words."""
    return code if _CODE.fullmatch(code) else "another error"


def to_fields(value: object, ids: dict[str, int]) -> dict[str, str]:
    """The types of all fields of an answer by their paths; ids are numbered in order of appearance,
    in `ids`.
    """
    found: dict[str, set[str]] = {}
    for path, kind in _walk(value, "", ids):
        found.setdefault(path, set()).add(kind)
    return {path: " or ".join(sorted(kinds)[:_MOST_KINDS]) for path, kinds in found.items() if path}


def _walk(value: object, path: str, ids: dict[str, int]) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        yield path, "object"
        for key, one in value.items():
            name = key if _KEY.fullmatch(str(key)) and not path.endswith(_KEYED_BY_IDS) else "*"
            yield from _walk(one, f"{path}.{name}" if path else name, ids)
    elif isinstance(value, list):
        yield path, "list"
        for one in value:
            yield from _walk(one, f"{path}[]", ids)
    elif not isinstance(value, str):
        yield path, "boolean" if isinstance(value, bool) else "null" if value is None else "number"
    elif _ID.fullmatch(value):
        yield path, f"id {ids.setdefault(value, len(ids) + 1)}"
    else:
        yield (
            path,
            "timestamp"
            if _TIMESTAMP.fullmatch(value)
            else "address"
            if "://" in value
            else "string",
        )


def _differences(step: Step, expected: Step) -> Iterator[str]:
    """How a step differs from the same one elsewhere: what came to nothing, a slow answer, fields
    and their types.
    """
    if step.why != expected.why:
        yield f"{step.why or 'possible'}, expected {expected.why}" if expected.why else step.why
        return
    if (step.took_ms or 0) > LIMIT_MS >= (expected.took_ms or 0):
        yield f"took {(step.took_ms or 0) / 1000:.1f} s"
    named: tuple[str, ...] = ()  # of a field that is missing, the fields in it are not named too
    for path in sorted({*step.fields, *expected.fields}):
        here, there = (_types(each.fields.get(path)) for each in (step, expected))
        if here != there and not path.startswith(named):
            said = (
                f"{here}, expected {there}"
                if here and there
                else f"more: {here}"
                if here
                else f"missing: {there}"
            )
            yield f"{path}: {said}"
            named += (f"{path}.", f"{path}[")


def _types(said: str | None) -> str:
    """The types without the numbers of ids, which say nothing elsewhere."""
    return " or ".join(
        sorted({re.sub(r"^id \d+$", "id", each) for each in (said or "").split(" or ")})
    )


def compared(report: Report, other: Report) -> Report:
    expected, steps = {each.step: each for each in other.steps}, []
    for step in report.steps:
        is_there = step.why not in _NOT_THERE and step.step in expected
        found = tuple(_differences(step, expected[step.step])) if is_there else ()
        outcome = "different" if found else "equal" if is_there else "not possible"
        steps.append(step.model_copy(update={"outcome": outcome, "differences": found}))
    return report.model_copy(update={"steps": tuple(steps)})


def show_compared(one: Path, other: Path) -> None:
    print("\n".join(lines(compared(read(one), read(other)))))


def read(file: Path) -> Report:
    try:
        return Report.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as exc:
        raise BotError(
            f"{file}: cannot be read as a report of judge-bot live; name a live-report.json"
        ) from exc


def lines(report: Report) -> Iterator[str]:
    """The report in lines, what is different first."""
    for step in sorted(report.steps, key=lambda step: step.outcome):
        took = f", {step.took_ms} ms" if step.took_ms is not None else ""
        yield (
            f"{step.outcome:<13} "
            f"{step.step}{took}{f' ({step.why})' if step.why and not step.differences else ''}"
        )
        yield from (f"              {each}" for each in step.differences)
    for asked in report.models:
        yield "model         " + "; ".join(f"{name}: {said}" for name, said in asked.items())


def to_page(report: Report) -> str:
    counts = Counter(step.outcome for step in report.steps)
    title = (
        f"{counts['equal']} of {len(report.steps)} steps are as in pocket-slack, "
        f"{counts['different']} are different"
    )
    about = (
        f"{report.system}, {report.day}; slack-judge {report.slack_judge}, Python {report.python}"
    )
    style = "body{font-family:system-ui;max-width:60rem;margin:auto;padding:1rem}pre{white-space:pre-wrap;color:#333}"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width">'
        "<title>slack-judge: live "
        f"check</title><style>{style}</style><h1>{title}</h1><p>{escape(about)}</p>"
        f"<pre>{escape(chr(10).join(lines(report)))}</pre></html>\n"
    )
