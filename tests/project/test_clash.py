"""PyPI has another package `judge` with the same folder; installed later, it lies over ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def said_by(program: str, folder: Path, *typed: str) -> tuple[int, str]:
    line = f"import sys; sys.argv[0] = 'x'; from {program}.cli import main; main()"
    command = [sys.executable, "-c", line, *typed]
    env = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("program", "init"), [("judge", "from .decide import decide"), ("bot", "")]
)
def test_both_commands_refuse_to_run_where_it_lies_over_ours(
    tmp_path: Path, program: str, init: str
) -> None:
    """An empty file stands for none: `pip uninstall judge` deletes ours, too."""
    package = tmp_path / "judge"
    package.mkdir()
    for path in (ROOT / "judge").iterdir():
        if path.name not in {"__init__.py", "__pycache__"}:
            (package / path.name).symlink_to(path)
    (package / "__init__.py").write_text(init)
    (package / "decide.py").write_text("decide = None")
    code, said = said_by(program, tmp_path, "--version")
    assert (code, "pip uninstall judge" in said) == (2, True)
