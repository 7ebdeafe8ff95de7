"""The documentation as a site: `make site` with a made-up address."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import judge

ROOT = Path(__file__).parents[2]
SITE, HOST = "https://docs.example/", "https://host.example/team/slack-judge"


class Targets(HTMLParser):
    """The tags and addresses of all that a page links to or loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found = list[tuple[str, str]]()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, value) for name, value in attrs if name in {"href", "src"} and value]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = (sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder))
    env = os.environ | {"SITE_URL": SITE, "REPO_URL": HOST, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr  # a broken link or anchor is a warning, which fails the build
    return folder


def test_the_site_links_to_existing_files_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        for tag, target in Targets(page).found:
            url = urlsplit(target)
            if url.scheme or url.netloc:
                assert re.fullmatch(r"https://[\w.-]+\.\w+(/\S*)?", target)  # it is not requested
                assert tag == "a" or target.startswith(SITE), f"{page.name} loads {target}"
            else:
                folder = site if url.path.startswith("/") else page.parent
                assert (folder / unquote(url.path).lstrip("/")).exists(), f"{page.name}: {target}"
    assert {"api.html", "index.html", "CONTRIBUTING.html"} <= {page.name for page in pages}
    assert f'href="{HOST}/security/advisories/new"' in (site / "SECURITY.html").read_text(encoding="utf-8")


def test_llms_txt_lists_every_page(site: Path) -> None:
    listed = re.findall(r"^- \[.+\]\((.+)\): .+\.$", (site / "llms.txt").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"404.html"}
    assert sorted(listed) == sorted(SITE + page for page in pages)


def test_the_reference_has_every_public_name_and_integration(site: Path) -> None:
    text = (site / "docs" / "api.html").read_text(encoding="utf-8")
    modules = [f"integrations.{path.stem}" for path in (ROOT / "judge" / "integrations").glob("[a-z]*.py")]
    assert [name for name in [*judge.__all__, *modules] if f'id="judge.{name}"' not in text] == []
