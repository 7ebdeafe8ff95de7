"""The contents of the two wheels, the commands that work from them, and what each make target
installs in .venv.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import typer

from bot.cli import app as judge_bot
from bot.commands.demo_past import demo_workspace, write_past
from judge.cli import app as judge
from tests.patience import ONLY_A_HANG_S

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
APP: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
POCKET: dict[str, Any] = tomllib.loads(
    (ROOT / "sandbox" / "pyproject.toml").read_text(encoding="utf-8")
)
UV = str(shutil.which("uv", path=f"{ROOT / '.uv' / 'bin'}{os.pathsep}{os.environ['PATH']}"))
# Run in this order while the bot runs. After the bar: the end of the error if a command needs an
# extra or other data.
TYPED = """\
judge score --question Why? --response Because.
judge rubrics grounded
judge batch raw.csv -o scored.jsonl
judge pairs scored.jsonl -o pairs.jsonl
judge causes scored.jsonl | with a reason, and there are 1.
judge topics scored.jsonl | different questions, and there are 1.
judge label gone.jsonl | gone.jsonl: no such file.
judge view scored.jsonl -o page.html
judge agreement scored.jsonl --label human | pip install 'slack-judge[agreement]'
judge-bot manifest
judge-bot demo --script
judge-bot health
judge-bot doctor
judge-bot digest --channel help-desk
judge-bot export -o labels.csv
judge-bot view --channel C00000014 --watched -o channel.html
judge-bot release --channel help-desk --assistant helper new | `/judge watch @helper` begins to watch it.
judge-bot purge --days 30 --yes
judge-bot copy --from sqlite+aiosqlite:///no.db --to sqlite+aiosqlite:///copy.db | or create one with judge-bot serve
judge-bot audit
judge-bot installations list
judge-bot mcp | pip install 'slack-judge[mcp]'
pocket-slack --version
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both packages' wheels and sources: those of a release, if WHEELS names it, or
    built as for one.
    """
    if built := os.environ.get("WHEELS"):
        return Path(built)
    folder = tmp_path_factory.mktemp("wheels")
    pinned = ["--build-constraints", "tools/build.txt", "--require-hashes"]
    command = [UV, "build", "--quiet", "--all-packages", *pinned, "--out-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


def test_the_upload_action_accepts_what_is_built(wheels: Path, tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, tmp_path], check=True)
    install = [UV, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--python", python]
    subprocess.run([*install, "--requirement", ROOT / ".github" / "twine.txt"], check=True)
    files = sorted(wheels.glob("[a-z]*"))
    done = subprocess.run(
        [python, "-m", "twine", "check", "--strict", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.count("PASSED") == len(files) == 4, done.stdout


def opened(wheels: Path, name: str) -> tuple[set[str], Message]:
    """The files of a wheel, and its metadata."""
    with zipfile.ZipFile(next(wheels.glob(f"{name}-*.whl"))) as wheel:
        names = set(wheel.namelist())
        metadata = next(each for each in names if each.endswith(".dist-info/METADATA"))
        return names, message_from_bytes(wheel.read(metadata))


def top(names: set[str]) -> set[str]:
    return {name.partition("/")[0] for name in names if ".dist-info/" not in name}


def test_the_apps_wheel_requires_the_pocket_slack_only_in_the_extra_demo(wheels: Path) -> None:
    names, metadata = opened(wheels, "slack_judge")
    assert top(names) == {"bot", "judge"}
    assert {"bot/py.typed", "judge/py.typed"} <= names
    asked = [
        each for each in metadata.get_all("Requires-Dist", []) if each.startswith("pocket-slack")
    ]
    assert [each.partition(";")[2].strip() for each in asked] == ["extra == 'demo'"]


@contextmanager
def running(command: str, until: str, **how: Any) -> Iterator[str]:
    """The output of a program until it is ready; on exit it is interrupted, and must end with code
    0.
    """
    pipe, said = subprocess.PIPE, ""
    with subprocess.Popen(
        command.split(), stdout=pipe, stderr=subprocess.STDOUT, text=True, **how
    ) as process:
        try:
            while until not in said and (line := process.stdout.readline()):
                said += line
            yield said
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=ONLY_A_HANG_S)
    assert process.returncode == 0, said


def test_each_command_works_from_the_wheels_in_an_empty_folder(
    wheels: Path, tmp_path: Path
) -> None:
    scripts, pins, here = tmp_path / "venv" / "bin", tmp_path / "pins.txt", tmp_path / "here"
    export = [
        UV,
        "export",
        "--quiet",
        "--frozen",
        "--no-dev",
        "--extra=demo",
        "--no-emit-workspace",
    ]
    subprocess.run([*export, "--output-file", pins], cwd=ROOT, check=True)
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, scripts.parent], check=True)
    install, ours = (
        [UV, "pip", "install", "--quiet", "--python", scripts / "python"],
        [*wheels.glob("*.whl")],
    )
    # As users get it, or with the lowest versions that it says it takes; without either, as locked.
    resolution = os.environ.get("RESOLUTION")
    asked = ["--resolution", resolution] if resolution else ["--requirement", pins]
    subprocess.run([*install, *asked, *ours], check=True)
    here.mkdir()
    (here / "raw.csv").write_text("question,response,human\nWhy?,Because.,4\n")
    env = {
        "PATH": str(scripts),
        "JUDGE_MODEL": "offline",
        "DATABASE_URL": "sqlite+aiosqlite:///log.db",
    }
    how: dict[str, Any] = {"cwd": here, "env": env}

    def run(line: str) -> str:
        command, _, sentence = line.partition(" | ")
        done = subprocess.run(
            f"{scripts}/{command}".split(),
            **how,
            capture_output=True,
            text=True,
            timeout=ONLY_A_HANG_S,
            check=False,
        )
        assert (done.returncode, done.stderr.strip().endswith(sentence)) == (
            2 if sentence else 0,
            True,
        ), done
        return done.stdout

    with running(f"{scripts}/judge-bot demo --page --port 0", "Ctrl-C", **how) as said:
        (page,) = re.findall(r"http://\S+", said)
        files = re.findall(r'(?:src|href)="(/[^"]+)"', urlopen(page).read().decode())  # noqa: S310 - our own server
        assert len([urlopen(page + file).read() for file in files]) > 10  # noqa: S310
    asyncio.run(write_past(f"sqlite+aiosqlite:///{here}/log.db", demo_workspace()))
    (here / "manifest.yml").write_text(run("judge-bot manifest"))
    with running(
        f"{scripts}/pocket-slack --manifest manifest.yml", "SLACK_APP_TOKEN", **how
    ) as said:
        env |= re.findall(r"^(SLACK_\w+)=(.+)", said, re.MULTILINE)
        with running(f"{scripts}/judge-bot serve", "queue_opened", **how):
            for line in TYPED.splitlines():
                run(line)
    subprocess.run(
        [UV, "pip", "uninstall", "--quiet", "--python", scripts / "python", "pocket-slack"],
        check=True,
    )
    run(
        "judge-bot demo --script | judge-bot: the demo needs pocket_slack: pip install "
        "'slack-judge[demo]'"
    )
    typed = {tuple(line.split()[:2]) for line in TYPED.splitlines()}
    for program, app in (("judge", judge), ("judge-bot", judge_bot)):
        assert {(program, name) for name in typer.main.get_command(app).commands} - typed <= {
            ("judge-bot", "serve")
        }


def test_the_pocket_slack_requires_exactly_the_packages_that_it_imports() -> None:
    sources = [
        path.read_text(encoding="utf-8") for path in (ROOT / "sandbox/pocket_slack").rglob("*.py")
    ]
    found = {
        name
        for text in sources
        for name in re.findall(r"^ *(?:from|import) (\w+)", text, re.MULTILINE)
    }
    foreign = found - sys.stdlib_module_names - {"pocket_slack"}
    asked = {re.match(r"[\w-]+", each)[0] for each in POCKET["project"]["dependencies"]}
    # pydantic requires pydantic_core itself, in the only version that fits; the others are for the
    # fixture alone.
    assert foreign - {"pydantic_core", "pytest", "slack_bolt"} == {
        {"pyyaml": "yaml"}.get(name, name) for name in asked
    }


def test_the_extra_demo_requires_the_pocket_slack_version_of_this_checkout() -> None:
    (asked,) = APP["project"]["optional-dependencies"]["demo"]
    lowest, below = re.fullmatch(r"pocket-slack>=(\d+\.\d+),<(\d+\.\d+)", asked).groups()
    major, minor = map(int, lowest.split("."))
    assert POCKET["project"]["version"].startswith(f"{lowest}.")
    assert below == f"{major}.{minor + 1}"
