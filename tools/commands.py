"""Made from the code for the site: every command and option, and the JSON Schemas of rows, verdicts
and settings.

`python -m tools.commands` prints the page.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import typer
from pydantic import TypeAdapter

from bot.cli import app as judge_bot
from bot.settings import Settings
from judge import Verdict
from judge.cli import app as judge
from judge.rows.row_file import ADDED

_WIDTH = 80
_HEAD = """# Every command and option

What `--help` says of each. The JSON Schemas of [rows](../schemas/row.json) (what `judge batch` adds to them),
[verdicts](../schemas/verdict.json) (`Verdict.to_dict`) and [settings](../schemas/settings.json) are here, too.
"""


def page() -> str:
    """The page's content."""
    return "\n".join([_HEAD, *_lines("judge", judge), *_lines("judge-bot", judge_bot)])


def schemas() -> Mapping[str, Mapping[str, Any]]:
    """The JSON Schemas by name."""
    adapter: Any = TypeAdapter  # mypy takes no type that is known only at run time
    row = {name: adapter(of | None).json_schema() for name, of in ADDED.items()}
    return {
        "row": {"type": "object", "properties": row, "required": list(row)},
        "verdict": TypeAdapter(Verdict).json_schema(),
        "settings": Settings.model_json_schema(),
    }


def _lines(program: str, app: typer.Typer) -> Iterator[str]:
    group: Any = typer.main.get_command(app)
    yield from _below(
        group,
        group.context_class(
            group, info_name=program, terminal_width=_WIDTH, **group.context_settings
        ),
    )


def _below(group: Any, above: Any) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        context = command.context_class(command, info_name=name, parent=above)
        if hasattr(command, "commands"):
            yield from _below(command, context)
        else:
            yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    print(page())
