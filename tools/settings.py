"""Writes docs/settings.md from the fields of `Settings` and their descriptions: `python -m tools.settings`."""

from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from bot.setting_values import SECRETS
from bot.settings import Settings

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"

_HEAD = """# Settings

Of the app, from the environment or `.env`, read once at start; all problems are reported together. The commands
`judge ...` read those of the judge from the environment, and no `.env`; their options go first. This page is made of
the descriptions in `bot/settings.py`, by `python -m tools.settings`.
"""

_SECTIONS = {
    "Slack": ("slack_", "serve_http", "http_", "unconfirmed_posts"),
    "The judge": ("openai_", "judge_"),
    "The log": ("database_", "store_", "retention_"),
    "Who may, and what it may take": ("max_", "channels_", "score_people", "verdict_visibility"),
    "Watching assistants": ("watch_",),
    "The digest": ("digest_",),
    "Watching the process": ("metrics_", "log_"),
}
"""Which settings stand together, by the beginnings of their names."""

_MORE = {
    "serve_http": "running.md",
    "database_url": "running.md#the-databases-address",
    "openai_base_url": "judge.md",
    "judge_rubric": "judge.md#a-rubric-of-your-own",
    "judge_models": "rubrics.md",
    "judge_escalate_to": "judge.md",
    "store_text": "privacy.md",
    "retention_days": "privacy.md",
    "score_people": "privacy.md",
    "digest_day": "digest.md",
    "watch_by": "watch.md",
}
"""The page that says more of a setting."""

_SECRETS = """
## Secrets in files

As Docker, Kubernetes and systemd hand them over, each of these names a file that holds the value instead
([running.md](running.md#secrets-in-files)): {names}.
"""


def page() -> str:
    """The page as it should be."""
    fields = dict(Settings.model_fields)
    sections = [_section(title, begins, fields) for title, begins in _SECTIONS.items()]
    if fields:
        raise SystemExit(f"settings: {', '.join(fields)}: in no section of tools/settings.py; add it to one")
    files = [f"`{name.upper()}_FILE`" for name in Settings.model_fields if name in SECRETS]
    names = f"{', '.join(files[:-1])} and {files[-1]}"
    return "\n".join([_HEAD, *sections]) + _SECRETS.format(names=names)


def row(name: str, field: FieldInfo) -> tuple[str, str, str]:
    """A setting, its default, and what it is, as the cells of a table.

    Raises:
        ValueError: The field has no description.
    """
    if not field.description:
        raise ValueError(f"the setting {name} (bot/settings.py) has no description; say in it what the setting does")
    return f"`{name.upper()}`", _default(field), field.description


def _section(title: str, begins: Sequence[str], fields: dict[str, FieldInfo]) -> str:
    """One table, of the fields that begin so; they are taken out of `fields`."""
    names = [name for name in fields if name.startswith(tuple(begins))]
    rows = [_linked(name, row(name, fields.pop(name))) for name in names]
    return "\n".join(_lines(title, rows))


def _lines(title: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| setting | default | what it is |\n|---|---|---|"
    yield from (f"| {' | '.join(cells)} |" for cells in rows)
    yield ""


def _linked(name: str, cells: tuple[str, str, str]) -> Sequence[str]:
    more = _MORE.get(name)
    return [*cells[:2], f"{cells[2]} ([{more.partition('#')[0]}]({more}))"] if more else cells


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.default.value if isinstance(field.default, Enum) else field.default
    if value is None or value == frozenset():
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
