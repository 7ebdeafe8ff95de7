"""Writes docs/settings.md from the fields of `Settings` and the text below each: `python -m
tools.settings`.
"""

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from bot import settings
from bot.setting_values import SECRETS
from bot.settings import Settings

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"

_HEAD = """# Settings

The app reads its settings from the environment or from `.env`, once at start, and reports all problems together. The
`judge` commands read the settings of the judge from the environment only; their options take precedence.
"""

_SECTIONS = {
    "Slack": ("slack_", "token_", "workspaces_", "serve_http", "http_"),
    "The judge": ("openai_", "judge_"),
    "The database": ("database_", "store_", "text_", "retention_"),
    "Limits and permissions": (
        "max_",
        "channels_",
        "companies_",
        "score_people",
        "verdict_visibility",
    ),
    "Watching assistants": ("watch_",),
    "The digest": ("digest_",),
    "Monitoring": ("metrics_", "log_"),
}
"""The sections of the page, and how the names of their settings begin."""

_MORE = {
    "serve_http": "running.md#http-mode",
    "slack_client_id": "running.md#many-workspaces",
    "workspaces_allowed": "running.md#many-workspaces",
    "database_url": "running.md#postgresql",
    "openai_base_url": "evaluation.md#servers",
    "judge_rubric": "evaluation.md#rubrics",
    "judge_models": "use.md#rubrics",
    "store_text": "security.md#how-long-data-is-kept",
    "text_days": "security.md#how-long-data-is-kept",
    "retention_days": "security.md#how-long-data-is-kept",
    "score_people": "security.md#whose-replies-are-scored",
    "companies_allowed": "security.md#permissions",
    "digest_day": "use.md#the-weekly-digest",
    "watch_by": "running.md#watching",
}
"""The page that says more about a setting."""

_SECRETS = """
## Secrets in files

Each of these names a file that holds the value instead, as Docker, Kubernetes and systemd provide them: {names}.
The file holds only the value, and should be readable by its owner only.
"""


def page() -> str:
    """The page's content."""
    fields = dict(Settings.model_fields)
    sections = [_section(title, begins, fields) for title, begins in _SECTIONS.items()]
    if fields:
        raise SystemExit(
            f"settings: {', '.join(fields)}: in no section of tools/settings.py; add it to one"
        )
    files = [f"`{name.upper()}_FILE`" for name in Settings.model_fields if name in SECRETS]
    names = f"{', '.join(files[:-1])} and {files[-1]}"
    return "\n".join([_HEAD, *sections]) + _SECRETS.format(names=names)


def row(name: str, field: FieldInfo) -> tuple[str, str, str]:
    """A setting, its default and its meaning, as the cells of a table.

    Raises:
        ValueError: The field has no description.
    """
    if name not in descriptions():
        raise ValueError(
            f"the setting {name} (bot/settings.py) has no description; say in it what the "
            "setting does"
        )
    return f"`{name.upper()}`", _default(field), descriptions()[name]


@cache
def descriptions() -> Mapping[str, str]:
    """The text below each setting, which pydantic would take 10 ms to read at each start."""
    classes = [
        node
        for node in ast.parse(inspect.getsource(settings)).body
        if isinstance(node, ast.ClassDef)
    ]
    return {
        each.target.id: " ".join(below.value.value.split())
        for kind in classes
        for each, below in pairwise(kind.body)
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        if isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def _section(title: str, begins: Sequence[str], fields: dict[str, FieldInfo]) -> str:
    """One section, with a table of the fields that begin so; removes these from `fields`."""
    names = [name for name in fields if name.startswith(tuple(begins))]
    rows = [_linked(name, row(name, fields.pop(name))) for name in names]
    return "\n".join(_lines(title, rows))


def _lines(title: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| setting | default | meaning |\n|---|---|---|"
    yield from (f"| {' | '.join(cells)} |" for cells in rows)
    yield ""


def _linked(name: str, cells: tuple[str, str, str]) -> Sequence[str]:
    more = _MORE.get(name)
    return [*cells[:2], f"{cells[2]} ([{more.partition('#')[0]}]({more}))"] if more else cells


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.default.value if isinstance(field.default, Enum) else field.default
    if value is None or value in (frozenset(), ()):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
