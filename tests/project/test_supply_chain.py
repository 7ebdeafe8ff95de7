"""The supply chain: pinned actions with few permissions, the audit of uv.lock, the list of packages
(SBOM).
"""

import asyncio
import functools
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from tests.tables import each
from tools.notes import notes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI, RELEASE = (ROOT / ".github" / "workflows" / name for name in ("ci.yml", "release.yml"))
MAY_WRITE = {
    ("docs.yml", "deploy"): {"pages", "id-token"},
    ("release.yml", "release"): {"contents"},
    ("release.yml", "publish"): {"id-token", "attestations"},
    ("release.yml", "image"): {"packages", "id-token", "attestations"},
}
needs_uv = pytest.mark.skipif(
    not (ROOT / ".uv" / "bin" / "uv").exists() and shutil.which("uv") is None,
    reason="uv is not installed",
)


@functools.cache
def lock_file() -> list[dict[str, Any]]:
    return list(tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"])


def jobs(workflow: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return found


@each("workflow", WORKFLOWS)
def test_actions_are_pinned_by_commit_with_the_version_in_a_comment(workflow: Path) -> None:
    used = re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8"))
    assert used
    pinned = r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/workflows/ci\.yml"
    assert [each for each in used if not re.fullmatch(pinned, each)] == []


@each("workflow", WORKFLOWS)
def test_jobs_have_only_the_write_permissions_that_they_need(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    for name, job in jobs(workflow).items():
        writes = {right for right, level in job.get("permissions", {}).items() if level == "write"}
        assert writes == MAY_WRITE.get((workflow.name, name), set())
        for step in job.get("steps", ()):
            assert "${{" not in step.get(
                "run", ""
            )  # the name of a branch must not become a command
            if "actions/checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
    assert "pull_request_target" not in text
    assert "secrets." not in text


async def run(*command: str) -> tuple[int | None, str]:
    env = os.environ | {"UV_HTTP_RETRIES": "0", "NO_PROXY": "*"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=env, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()


def test_the_build_tools_of_releases_and_the_image_are_pinned_by_hash() -> None:
    for file in ("Dockerfile", ".github/workflows/release.yml"):
        text = (ROOT / file).read_text(encoding="utf-8")
        installs = re.findall(r"\bpip install (.*)", text)
        assert [
            each for each in installs if "--require-hashes" not in each and "--no-deps" not in each
        ] == []
        builds = re.findall(r"\buv build (.*)", text)
        assert [
            each
            for each in builds
            if "--build-constraints tools/build.txt --require-hashes" not in each
        ] == []
        assert installs
        assert builds


class Advisories:
    """A stand-in for osv.dev that knows at most one vulnerable package."""

    def __init__(self) -> None:
        self.url = ""
        self.vulnerable: str | None = None
        self.asked: list[str] = []

    async def batch(self, request: web.Request) -> web.Response:
        names = [query["package"]["name"] for query in (await request.json())["queries"]]
        self.asked += names
        found = [{"id": "OSV-1", "modified": "2026-11-01T00:00:00Z"}]
        return web.json_response(
            {"results": [{"vulns": found} if n == self.vulnerable else {} for n in names]}
        )

    async def advisory(self, _: web.Request) -> web.Response:
        affected = [{"package": {"ecosystem": "PyPI", "name": self.vulnerable}}]
        return web.json_response(
            {
                "id": "OSV-1",
                "modified": "2026-11-01T00:00:00Z",
                "summary": "A hole.",
                "affected": affected,
            }
        )


@pytest.fixture
async def advisories() -> AsyncIterator[Advisories]:
    found = Advisories()
    server = web.Application()
    server.add_routes(
        [web.post("/v1/querybatch", found.batch), web.get("/v1/vulns/{id}", found.advisory)]
    )
    runner = web.AppRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    yield found
    await runner.cleanup()


@needs_uv
async def test_the_audit_checks_each_locked_package_and_fails_for_a_vulnerable_one(
    advisories: Advisories,
) -> None:
    code, said = await run("sh", "tools/audit", "--service-url", advisories.url)
    assert code == 0, said
    assert set(advisories.asked) == {
        each["name"] for each in lock_file() if "registry" in each["source"]
    }
    advisories.vulnerable = "aiohttp"
    code, said = await run("sh", "tools/audit", "--service-url", advisories.url)
    assert code == 1
    assert "OSV-1" in said
    code, _ = await run("sh", "tools/audit", "--no-such-option")
    assert code not in {0, None}


def test_a_release_is_tested_approved_and_attested_before_anything_is_published() -> None:
    release = jobs(RELEASE)
    assert release["publish"]["needs"] == ["tests", "build", "container", "installed"]
    assert all("publish" in release[name]["needs"] for name in ("release", "image"))
    # The one approval; a rehearsal does not get there, and nothing that writes runs without it.
    assert {name for name, job in release.items() if "environment" in job} == {"publish"}
    assert release["publish"]["if"] == "github.event_name == 'push'"
    steps = release["publish"]["steps"]
    (attest,) = [
        n for n, each in enumerate(steps) if "attest-build-provenance" in each.get("uses", "")
    ]
    (upload,) = [n for n, each in enumerate(steps) if "pypi-publish" in each.get("uses", "")]
    assert attest < upload
    assert steps[attest]["with"] == {"subject-path": "files/*"}


def test_only_a_tag_on_main_is_released(tmp_path: Path) -> None:
    (check,) = [
        each for each in jobs(RELEASE)["build"]["steps"] if "merge-base" in each.get("run", "")
    ]
    assert check["if"] == "github.event_name == 'push'"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    one = ["commit -q --allow-empty -m one", "tag on"]
    two = ["commit -q --allow-empty -m two", "tag off"]
    for command in ("init -q -b main", *one, "update-ref refs/remotes/origin/main HEAD", *two):
        subprocess.run([*git, *command.split()], check=True)

    def code(tag: str) -> int:
        sha = subprocess.run(
            [*git, "rev-parse", tag], capture_output=True, text=True, check=True
        ).stdout.strip()
        env = os.environ | {"GITHUB_SHA": sha, "TAG": tag}
        return subprocess.run(
            ["/bin/bash", "-ec", check["run"]], cwd=tmp_path, env=env, check=False
        ).returncode

    assert (code("on"), code("off")) == (0, 1)


def run_step(step: dict[str, Any], folder: Path, **env: str) -> int:
    command = ["/bin/bash", "-ec", step["run"]]
    return subprocess.run(command, cwd=folder, env=os.environ | env, check=False).returncode


def test_only_the_files_that_were_built_are_published(tmp_path: Path) -> None:
    build = jobs(RELEASE)["build"]
    (sum_up,) = [step for step in build["steps"] if step.get("id") == "sums"]
    assert build["outputs"]["sums"] == "${{ steps.sums.outputs.sums }}"
    comparing = []
    for job in ("publish", "release"):
        steps = jobs(RELEASE)[job]["steps"]
        downloads = [
            n for n, each in enumerate(steps) if each.get("with", {}).get("name") == "files"
        ]
        comparing.append(steps[downloads[0] + 1])
    compare, same = comparing
    assert (compare["run"], compare["env"]) == (same["run"], same["env"])
    assert compare["env"] == {"SUMS": "${{ needs.build.outputs.sums }}"}

    files = tmp_path / "files"
    files.mkdir()
    (files / "a.whl").write_text("built")
    (files / "b.tar.gz").write_text("built, too")
    output = tmp_path / "output"
    assert run_step(sum_up, tmp_path, GITHUB_OUTPUT=str(output)) == 0
    sums = "\n".join(output.read_text().splitlines()[1:-1])
    assert run_step(compare, tmp_path, SUMS=sums) == 0
    (files / "evil.whl").write_text("more")
    assert run_step(compare, tmp_path, SUMS=sums) == 1
    (files / "evil.whl").unlink()
    (files / "a.whl").write_text("other")
    assert run_step(compare, tmp_path, SUMS=sums) == 1


def test_the_notes_of_a_release_are_its_part_of_the_packages_changelog(tmp_path: Path) -> None:
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(
        "# Changelog\n\n## 0.2.0 (unreleased)\n\n- new\n\n## 0.1.0 (2026-11-26)\n\n### In "
        "Slack\n\n- old\n"
    )
    assert notes(changelog, "0.1.0", "push") == "### In Slack\n\n- old"
    assert notes(changelog, "0.2.0", "workflow_dispatch") == "- new"
    with pytest.raises(SystemExit, match="put the date there"):
        notes(changelog, "0.2.0", "push")
    with pytest.raises(SystemExit, match="has nothing under"):
        notes(changelog, "0.3.0", "push")
    for folder in (ROOT, ROOT / "sandbox"):
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert notes(folder / "CHANGELOG.md", project["version"], "workflow_dispatch")
