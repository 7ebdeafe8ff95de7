"""All messages and windows that the app can make, for `judge-bot doctor`: each with several
contents.

A module `screens` beside the tests of the pipeline and of each feature makes them. What is recorded
is what `Post` and the builders of windows are called with, and where in the code; so a place that
makes something new is not forgotten.
"""

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import blocks
from bot.slack.messenger import Post

ROOT = Path(__file__).parents[1]
CONTENTS = {
    "short": "Why?",
    "longest": "word " * 25_000,
    "empty": "",
    "odd": "<!channel> <@U1> *_~`&amp; \u202e\u0000\x1b[2J\n\n> \U0001f642 :tada: {prompt} ```"
    * 40,
}
AGAIN = {"features/digest/handlers.py", "features/labels/blind.py", "pipeline/quoting.py"}
AGAIN |= {"features/rubrics/handlers.py"}
"""Only send again what another place has made, with a line more or less, or quotes alone, as `view_modal` does."""

Site = tuple[str, int]
"""A file below `bot`, and the line of a call that makes a message or a window."""

_POST: CodeType = Post.__init__.__code__
_PUBLISH = AsyncWebClient.views_publish.__code__
_BUILDERS = {blocks.modal.__code__, blocks.page.__code__}


class Recorder:
    """What was made, by the name of its place and its content, and the places."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, str], dict[str, Any]] = {}
        self.sites: set[Site] = set()

    @contextmanager
    def of(self, content: str) -> Iterator[None]:
        """Records what is made in the context."""

        def note(frame: FrameType, event: str, returned: Any) -> None:
            caller = frame.f_back
            if event == "call" and frame.f_code is _POST:
                text, body, plain = (
                    frame.f_locals[name] for name in ("text", "blocks", "plain_blocks")
                )
                kinds = {"message": {"text": text, "blocks": body}}
                kinds |= (
                    {"message in plain blocks": {"text": text, "blocks": plain}} if plain else {}
                )
                while caller and "/bot/slack/" in caller.f_code.co_filename:  # Post.of
                    caller = caller.f_back
            elif event == "call" and frame.f_code is _PUBLISH:
                kinds = {"view": frame.f_locals["view"]}
            elif event == "return" and frame.f_code in _BUILDERS and returned:
                kinds = {"view": returned}
            else:
                return
            file = caller.f_code.co_filename.rpartition("/bot/")[2] if caller else ""
            if caller and file.startswith(("features/", "pipeline/")):
                self.sites.add((file, caller.f_lineno))
                for kind, value in kinds.items():
                    self.add(f"{file}:{caller.f_code.co_name}", content, kind, value)

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            yield
        finally:
            sys.setprofile(before)

    def add_constants(self) -> None:
        """Records those that are made once, when a module is imported."""
        for name, module in sys.modules.items():
            if name.startswith("bot."):
                for each, value in vars(module).items():
                    if isinstance(value, Post):
                        file = f"{name.removeprefix('bot.').replace('.', '/')}.py"
                        self.add(
                            f"{file}:{each}",
                            "short",
                            "message",
                            {"text": value.text, "blocks": value.blocks},
                        )

    def add(self, name: str, content: str, kind: str, value: dict[str, Any]) -> None:
        """Keeps the largest of those that one place makes of one content."""
        key = f"{name}{' in plain blocks' if kind.endswith('blocks') else ''}", content
        kept = self.made.get(key)
        made = {kind.partition(" ")[0]: json.loads(json.dumps(value))}
        if kept is None or len(str(kept)) < len(str(made)):
            self.made[key] = made

    def different(self) -> list[tuple[tuple[str, str], dict[str, Any]]]:
        """What was made, without what is the same with several contents."""
        found: dict[tuple[str, str], Any] = {}
        for (name, content), made in sorted(self.made.items()):
            found.setdefault((name, _NUMBER.sub("0", json.dumps(made))), ((name, content), made))
        return list(found.values())


def places() -> set[Site]:
    """The lines of the code that make a message or a window."""
    found = set()
    for file in [*ROOT.glob("bot/features/**/*.py"), *ROOT.glob("bot/pipeline/*.py")]:
        name = str(file.relative_to(ROOT / "bot"))
        tree = ast.parse(file.read_text(encoding="utf-8"))
        functions = [
            each
            for each in ast.walk(tree)
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        for node in [node for each in functions for node in ast.walk(each)]:
            if isinstance(node, ast.Call) and _makes(node.func) and name not in AGAIN:
                found.add((name, node.lineno))
    return found


def _makes(called: ast.expr) -> bool:
    match called:
        case ast.Name("Post" | "modal" | "page" | "to_post"):
            return True
        case ast.Attribute(ast.Name("Post"), "of") | ast.Attribute(
            ast.Name("ui" | "blocks"), "modal" | "page"
        ):
            return True
    return False


def modules() -> Iterable[Any]:
    """The modules that make them, of the features that there are."""
    found = sorted([*ROOT.glob("tests/features/*/screens.py"), ROOT / "tests/pipeline/screens.py"])
    return [import_module(".".join(file.relative_to(ROOT).with_suffix("").parts)) for file in found]


_NUMBER = re.compile(r"\d+")


def shape(value: Any, key: str = "") -> Any:
    """What is compared of a message or a window: its form without its words, which have tests of
    their own.
    """
    if isinstance(value, dict):
        return {name: shape(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    return (
        value
        if key in {"type", "style", "name", "content"} and isinstance(value, str)
        else type(value).__name__
    )
