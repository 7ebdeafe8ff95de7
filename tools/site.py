"""Makes a site of README.md, docs/ and the files they link to: a hook of MkDocs, for `make site`.

Each file has the same path on the site as in the repository, so that relative links work in both.
"""

import json
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # MkDocs loads this file alone

from tools import commands  # noqa: E402

_TARGET = re.compile(r"\]\(([^)#:\s]+)")
_CODE = re.compile(r"`[^`\n]+`")
_PAGE_OF_THE_HOST = re.compile(r"\[([^\]]+)\]\((?:\.\./){2,3}([^.)][^)]+)\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """The theme's files, README.md, docs/, all that these link to, what is made from the code, and
    llms.txt.
    """
    own = [file for file in files if file.src_dir == config.docs_dir]
    found = ["README.md", *(f"docs/{file.src_uri}" for file in own)]
    for file in own:
        files.remove(file)
    for path in found:  # `found` grows in the loop
        found += dict.fromkeys(linked for linked in linked_from(path) if linked not in found)
        files.append(
            File(path, str(ROOT), config.site_dir, use_directory_urls=config.use_directory_urls)
        )
    generated = {
        f"schemas/{name}.json": json.dumps(schema, indent=2)
        for name, schema in commands.schemas().items()
    }
    for path, content in {"docs/commands.md": commands.page(), **generated}.items():
        files.append(File.generated(config, path, content=content))
        found.append(path)
    if (
        odd := {path for path in found if path.endswith(".md")}
        ^ config.extra["descriptions"].keys()
    ):
        raise PluginError(
            f"mkdocs.yml: 'descriptions' and the pages differ in {', '.join(sorted(odd))}"
        )
    lines = [
        f"# {config.site_name}\n",
        f"> {config.site_description}\n",
        *to_lines(config.nav or [], files, config),
    ]
    files.append(File.generated(config, "llms.txt", content="\n".join(lines) + "\n"))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """The page for MkDocs: without backslashes before pipes in code, and with full URLs for the
    code host's pages.
    """
    page.meta["description"] = config.extra["descriptions"][page.file.src_uri]
    markdown = _CODE.sub(lambda code: code[0].replace(r"\|", "|"), markdown)
    return _PAGE_OF_THE_HOST.sub(
        rf"[\1]({config.repo_url}/\2)" if config.repo_url else r"\1", markdown
    )


def linked_from(path: str) -> Iterator[str]:
    """The files in the repository that a page links to."""
    for target in (
        _TARGET.findall((ROOT / path).read_text(encoding="utf-8")) if path.endswith(".md") else ()
    ):
        linked = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if not linked.startswith("../") and (ROOT / linked).is_file():
            yield linked


def to_lines(nav: list[Any], files: Files, config: MkDocsConfig) -> Iterator[str]:
    """The pages of the navigation, with their descriptions."""
    for title, value in (item for entry in nav for item in entry.items()):
        if isinstance(value, list):
            yield from (f"\n## {title}\n", *to_lines(value, files, config))
        elif file := files.get_file_from_path(value):
            yield (
                f"- [{title}]({config.site_url or ''}{file.url}): "
                f"{config.extra['descriptions'][value]}"
            )
