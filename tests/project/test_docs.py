"""What README.md and docs/ say about files, names and settings, compared with the code."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.slack.manifest import OFF_WITHOUT, bot_scopes, load_manifest
from judge import DEFAULT_MODEL
from judge.scoring.model.completion import cost_of
from tests.tables import each

ROOT = Path(__file__).parents[2]
# The pages describe the app with all its features.
complete = pytest.mark.needs(
    "digest", "home", "labels", "outcome", "privacy", "rubrics", "topics", "watch"
)
PAGES = (
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "sandbox/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
)
_PATH = re.compile(
    r"(?<![\w/.-])(?:bot|judge|sandbox|tests|bench|tools|deploy|docs)/[\w/.-]*\w(?::\w+)?"
)


def named_in(page: Path) -> list[tuple[str, str]]:
    """The paths that a page names; for `path:name` also the name."""
    found = (match.partition(":") for match in _PATH.findall(page.read_text(encoding="utf-8")))
    return sorted({(path, name) for path, _, name in found})


@complete
@each("page", PAGES)
def test_files_and_names_in_a_page_exist(page: Path) -> None:
    missing = [path for path, _ in named_in(page) if not (ROOT / path).exists()]
    assert not missing
    named = [(path, name) for path, name in named_in(page) if name]
    assert not [
        (path, name)
        for path, name in named
        if not re.search(rf"\b{name}\b", (ROOT / path).read_text())
    ]


def test_every_module_of_the_bot_is_in_the_architecture_page() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = {path.stem for path in (ROOT / "bot").glob("[a-z]*.py")}
    rooms = files | {f"{path.parent.name}/" for path in (ROOT / "bot").glob("*/__init__.py")}
    drawn = text[text.index("bot/  ") : text.index("judge/\n")]
    assert [room for room in sorted(rooms) if not re.search(rf"(?<!\w){room}", drawn)] == []


def test_ci_runs_the_readmes_commands_with_the_images_python(tmp_path: Path) -> None:
    start = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    code = start.partition("```sh\n")[2].partition("```")[0]
    clone, *commands = [re.sub(r"\s+#.*", "", line) for line in code.splitlines()]
    assert clone.startswith("git clone ")
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "Dockerfile").write_text("FROM python:3.99-slim\n")
    stand_ins = {
        "make": '#!/bin/sh\necho "$PYTHON: make $*" >>asked\n',
        "python3.99": "#!/bin/sh\necho images-python\n",
    }
    for name, script in stand_ins.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    env = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([".ci/run"], cwd=tmp_path, env=env, check=True)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert commands
    for command in commands:
        assert f"images-python: {command}" in asked


def rows(page: str, title: str) -> list[list[str]]:
    """The cells of a section's first table, without its header row."""
    section = (
        (ROOT / page)
        .read_text(encoding="utf-8")
        .partition(f"\n## {title}\n")[2]
        .partition("\n## ")[0]
    )
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_scope_and_event_is_explained_and_so_is_which_may_be_declined() -> None:
    events = load_manifest()["settings"]["event_subscriptions"]["bot_events"]
    explained = []
    optional = []
    for names, is_optional, reason in rows("docs/security.md", "Permissions"):
        assert reason
        explained += re.findall(r"`([^`]+)`", names)
        if is_optional == "yes":
            optional += re.findall(r"`([\w.]+:[\w.]+)`", names)
    assert sorted(explained) == sorted([*bot_scopes(), *events])
    assert sorted(optional) == sorted(OFF_WITHOUT)


def events_in_code() -> dict[str, set[str]]:
    """The events that the app logs, with their levels."""
    found: dict[str, set[str]] = {}
    for file in (ROOT / "bot").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name("note_interruption") | ast.Attribute(attr="note_interruption"),
                    args=[ast.Constant(event), *_],
                ):
                    found[event] = {"warning", "error"}
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="logger"), attr=level), args=[said, *_]
                ):
                    levels = {level}
                case ast.Call(
                    func=ast.Name(id="note_interruption") | ast.Attribute(attr="note_interruption"),
                    args=[said, *_],
                ):
                    levels = {"warning", "error"}
                case _:
                    continue
            for part in ast.walk(said):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.setdefault(part.value, set()).update(levels)
    return {name: levels for name, levels in found.items() if re.fullmatch(r"\w+", name)}


@complete
def test_every_event_of_the_apps_log_is_listed() -> None:
    listed = {
        name: set(re.findall(r"\w+", levels))
        for names, levels, when in rows("docs/running.md", "Log lines")
        if when
        for name in re.findall(r"`(\w+)`", names)
    }
    assert listed == events_in_code()


@each("cells", rows("docs/security.md", "Cost"))
def test_the_costs_in_the_docs_are_those_that_the_app_computes(cells: list[str]) -> None:
    _, asked, written, verdict, thousand = cells
    tokens = [int(count.replace(",", "")) for count in (asked, written)]
    usage = {
        "prompt_tokens": tokens[0],
        "completion_tokens": tokens[1],
        "total_tokens": sum(tokens),
    }
    answer = {"object": "chat.completion", "model": DEFAULT_MODEL, "usage": usage}
    cost = cost_of("https://api.openai.com/v1", answer)
    assert cost is not None
    assert (verdict, thousand) == (f"${cost:.5f}", f"${cost * 1000:.2f}")


@pytest.mark.slow
def test_the_worked_example_prints_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    shutil.copytree(ROOT / "docs" / "example", tmp_path, dirs_exist_ok=True)
    program = f"{shlex.quote(sys.executable)} -c 'from judge.cli import main; main()'"
    env = os.environ | {"PYTHONPATH": str(ROOT), "JUDGE_MODEL": "offline", "COLUMNS": "80"}
    for typed, said in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.MULTILINE):
        command = re.sub(r"^judge", lambda _: program, typed)
        done = subprocess.run(
            ["/bin/sh", "-c", f"{command} 2>&1"],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == said, typed
    assert len(blocks) >= 4
