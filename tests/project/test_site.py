"""The documentation as a site: `make site` with a made-up address."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer

import bot.cli
import judge.cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SITE = "https://docs.example/"
HOST = "https://host.example/team/slack-judge"


class Targets(HTMLParser):
    """The tags and addresses of all that a page links to or loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found = list[tuple[str, str]]()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, value) for name, value in attrs if name in {"href", "src"} and value]


def test_the_site_is_whole_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    """One build, which takes seconds: its links, its list of pages, and its reference."""
    build = (sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path))
    env = os.environ | {"SITE_URL": SITE, "REPO_URL": HOST, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        done.stderr
    )  # a broken link or anchor is a warning, which fails the build
    pages = sorted(tmp_path.rglob("*.html"))
    assert [wrong for page in pages for wrong in wrong_targets(tmp_path, page)] == []
    assert {"api.html", "index.html", "CONTRIBUTING.html"} <= {page.name for page in pages}
    assert f'href="{HOST}/security/advisories/new"' in (tmp_path / "SECURITY.html").read_text(
        encoding="utf-8"
    )
    listed = re.findall(
        r"^- \[.+\]\((.+)\): .+\.$",
        (tmp_path / "llms.txt").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    names = {path.relative_to(tmp_path).as_posix() for path in pages} - {"404.html"}
    assert sorted(listed) == sorted(SITE + name for name in names)
    reference = (tmp_path / "docs" / "commands.html").read_text(encoding="utf-8")
    for program, app in (("judge", judge.cli.app), ("judge-bot", bot.cli.app)):
        for name, command in typer.main.get_command(app).commands.items():
            assert f'id="{program}-{name}' in reference
            assert [
                each.opts[-1] for each in command.params if each.opts[-1] not in reference
            ] == []
    for name in ("row", "verdict", "settings"):
        assert "properties" in json.loads(
            (tmp_path / "schemas" / f"{name}.json").read_text(encoding="utf-8")
        )
    text = (tmp_path / "docs" / "api.html").read_text(encoding="utf-8")
    modules = [
        f"integrations.{path.stem}" for path in (ROOT / "judge" / "integrations").glob("[a-z]*.py")
    ]
    assert [name for name in [*judge.__all__, *modules] if f'id="judge.{name}"' not in text] == []


def wrong_targets(site: Path, page: Path) -> Iterator[str]:
    """What a page links to that does not exist, or loads from another host."""
    for tag, target in Targets(page).found:
        url = urlsplit(target)
        if url.scheme or url.netloc:
            is_well_formed = re.fullmatch(
                r"https://[\w.-]+\.\w+(/\S*)?", target
            )  # it is not requested
            is_right = is_well_formed and (tag == "a" or target.startswith(SITE))
        else:
            folder = site if url.path.startswith("/") else page.parent
            is_right = (folder / unquote(url.path).lstrip("/")).exists()
        if not is_right:
            yield f"{page.name}: {target}"
