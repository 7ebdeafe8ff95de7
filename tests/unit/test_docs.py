"""What README.md and docs/ say of files, names and settings, held against the code."""

import re
from pathlib import Path

import pytest

from bot.settings import Settings
from bot.slack.manifest import FULL, MINIMAL, Name, bot_scopes, load_manifest

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_PATH = re.compile(r"(?<![\w/.-])(?:bot|judge|sandbox|tests|bench|tools|deploy|docs)/[\w/.-]*\w(?::\w+)?")


def named_in(page: Path) -> list[tuple[str, str]]:
    """The paths that a page names, and of `path:name` also the name."""
    found = (match.partition(":") for match in _PATH.findall(page.read_text(encoding="utf-8")))
    return sorted({(path, name) for path, _, name in found})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Path) -> None:
    missing = [path for path, _ in named_in(page) if not (ROOT / path).exists()]
    assert not missing
    named = [(path, name) for path, name in named_in(page) if name]
    assert not [(path, name) for path, name in named if not re.search(rf"\b{name}\b", (ROOT / path).read_text())]


def test_every_room_is_on_the_map() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = {path.stem for path in (ROOT / "bot").glob("[a-z]*.py")}
    rooms = files | {f"{path.parent.name}/" for path in (ROOT / "bot").glob("*/__init__.py")}
    drawn = text[text.index("bot/  ") : text.index("judge/\n")]
    assert [room for room in sorted(rooms) if not re.search(rf"(?<!\w){room}", drawn)] == []


def test_every_setting_is_in_the_table() -> None:
    cells = re.findall(r"^\| (`[A-Z][^|]*) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    explained = {name.lower() for cell in cells for name in re.findall(r"`([A-Z_]+)`", cell)}
    assert explained == set(Settings.model_fields)


def rows(page: str, title: str) -> list[list[str]]:
    """The cells of a section's first table, without its head."""
    section = (ROOT / page).read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("manifest", [FULL, MINIMAL])
def test_every_scope_and_event_has_its_reason(manifest: Name) -> None:
    events = load_manifest(manifest)["settings"]["event_subscriptions"]["bot_events"]
    explained = [
        name
        for names, in_minimal, reason in rows("docs/security.md", "Scopes and events")
        if reason and (manifest == FULL or in_minimal == "yes")
        for name in re.findall(r"`([^`]+)`", names)
    ]
    assert sorted(explained) == sorted([*bot_scopes(manifest), *events])
