"""The GitHub action: the scripts of its steps, run by bash with the inputs as the action passes
them.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load(
    (ROOT / "action" / "action.yml").read_text(encoding="utf-8")
)
INSTALL, SCORE = ACTION["runs"]["steps"]
WORKFLOW = (ROOT / "docs" / "check.yml").read_text(encoding="utf-8")


def perform(step: dict[str, Any], folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs a step's script in `folder` as GitHub does; the names of `inputs` have _ in place of -."""
    values = {
        f"inputs.{name}": str(each.get("default", "")) for name, each in ACTION["inputs"].items()
    }
    values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
    values["steps.install.outputs.judge"] = str(Path(sys.executable).with_name("judge"))
    given = {
        name: values[re.fullmatch(r"\$\{\{ (\S+) \}\}", text)[1]]
        for name, text in step["env"].items()
    }
    github = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    unset = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUDGE_", "OPENAI_"))
    }
    env = unset | github | given | {"GITHUB_ACTION_PATH": str(folder / "action")}
    command = ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)


def test_the_action_passes_on_the_first_run_and_fails_for_worse_responses(tmp_path: Path) -> None:
    row = '{"prompt": "How do I boil egg %d?", "completion": "%s"}\n'
    good = "Boil egg %d for six minutes, then cool it under cold water. Peel it with a spoon."
    bad = "No."
    (tmp_path / "-raw $(touch x).jsonl").write_text("".join(row % (n, good % n) for n in range(9)))
    inputs = {
        "input": "-raw $(touch x).jsonl",
        "model": "offline",
        "compare": "last.jsonl",
        "samples": "1",
    }
    done = perform(SCORE, tmp_path, **inputs, output="$(touch y).jsonl", fail_under="2")
    assert (done.returncode, "no earlier scores" in done.stdout) == (0, True), done.stderr
    (tmp_path / "$(touch y).jsonl").rename(tmp_path / "last.jsonl")
    (tmp_path / "-raw $(touch x).jsonl").write_text("".join(row % (n, bad) for n in range(9)))
    done = perform(SCORE, tmp_path, **inputs, other_judge="true")
    assert done.stdout.endswith("clearly worse than last.jsonl.\n"), done.stderr
    assert done.returncode == 1
    assert re.findall("### (.*)", (tmp_path / "GITHUB_STEP_SUMMARY").read_text()) == [
        "Check passed",
        "Check failed",
    ]
    assert not {"x", "y"} & {path.name for path in tmp_path.iterdir()}


def test_the_action_installs_its_own_checkout(tmp_path: Path) -> None:
    (tmp_path / "action").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "setup").write_text('echo "$@" >"$GITHUB_ACTION_PATH/../asked"\n')
    assert perform(INSTALL, tmp_path, extra="parquet").returncode == 0
    assert (tmp_path / "asked").read_text() == "--no-dev --extra=parquet\n"
    assert (
        tmp_path / "GITHUB_OUTPUT"
    ).read_text() == f"judge={tmp_path.resolve()}/.venv/bin/judge\n"


def test_inputs_are_used_but_never_inserted_into_a_script_and_other_actions_are_pinned() -> None:
    steps = yaml.safe_load(WORKFLOW)["jobs"]["judge"]["steps"]
    assert [each for each in [INSTALL, SCORE, *steps] if "${{" in each.get("run", "")] == []
    given = {**INSTALL["env"], **SCORE["env"]}
    assert {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]} <= set(given.values())
    used_in_scripts = re.findall(r"\$\{?([A-Z_]+)", INSTALL["run"] + SCORE["run"])
    assert set(given) <= set(used_in_scripts)
    used = re.findall(r"uses: (.*)", WORKFLOW)
    others = [
        each
        for each in used
        if not re.fullmatch(r"actions/[\w/]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)
    ]
    assert others == ["OWNER/slack-judge/action@COMMIT"]
    (ours,) = [each["with"] for each in steps if each.get("uses") in others]
    assert set(ours) < set(ACTION["inputs"])
