"""`judge view`, run as a command, and the page that it writes."""

import base64
import hashlib
import json
import re
import stat
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from judge.evaluation.view import save_page
from judge.evaluation.view.replies import read_replies
from judge.rows.files import encode
from tests.judge_command import run as judge

HOSTILE = "</script><script>alert(1)</script><!--<script>\u2028\u2029]]>&lt;$script${data}$$\ud800"


class Parsed(HTMLParser):
    """The page as a browser parses it: elements with their attributes, and the text inside them."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self._current = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._current = dict(attrs).get("id") or dict(attrs).get("type") or tag

    def handle_endtag(self, tag: str) -> None:
        self._current = ""

    def handle_data(self, data: str) -> None:
        self.inside[self._current] = self.inside.get(self._current, "") + data

    @property
    def data(self) -> dict[str, Any]:
        return dict(json.loads(self.inside["data"]))


def saved(folder: Path, *rows: dict[str, Any], title: str = "scored.jsonl") -> Path:
    source = folder / "scored.jsonl"
    page = folder / "page.html"
    source.write_text("\n".join(map(encode, rows)), encoding="utf-8")
    save_page(page, title, read_replies(source))
    return page


def test_hostile_text_cannot_break_out_of_the_data_or_the_title(tmp_path: Path) -> None:
    texts = ("prompt", "completion", "justification", "reason", "model", "prompt_id")
    row = {**dict.fromkeys((*texts, "unscored_detail"), HOSTILE), "score": 4, "human": 1}
    plain = Parsed(saved(tmp_path, {"score": 4}))
    title = "<img src=x onerror=alert(1)>"
    hostile = Parsed(saved(tmp_path, row | {"flags": [HOSTILE]}, title=title))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert hostile.data["replies"][0]["response"] == HOSTILE
    assert "<" not in hostile.inside["data"]
    assert not re.search("[\u2028\u2029]", hostile.inside["data"])
    assert hostile.inside["module"] == plain.inside["module"]
    assert title in hostile.inside["title"]


def test_conversation_is_shown_before_the_question(tmp_path: Path) -> None:
    said = [("user", "Hi"), ("assistant", "Yes?"), ("user", "Why?"), ("assistant", "So.")]
    messages = [{"role": role, "content": text} for role, text in said]
    (reply,) = Parsed(saved(tmp_path, {"messages": messages, "score": 3})).data["replies"]
    assert reply["before"] == [["user", "Hi"], ["assistant", "Yes?"]]
    assert (reply["question"], reply["response"]) == ("Why?", "So.")


def test_policy_allows_only_the_inline_script_and_style(tmp_path: Path) -> None:
    parsed = Parsed(saved(tmp_path, {"score": 4}))
    policy = next(attrs["content"] for _, attrs in parsed.tags if "http-equiv" in attrs)

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert policy == (
        f"default-src 'none'; script-src {hashed(parsed.inside['module'])}; "
        f"style-src {hashed(parsed.inside['style'])}; base-uri 'none'; form-action 'none'"
    )
    assert not [attrs for _, attrs in parsed.tags if {"src", "href", "style"} & set(attrs)]


def test_topics_of_a_judge_version_are_counted_if_its_rows_have_them(tmp_path: Path) -> None:
    rows = [{"score": 4, "model": "a", "topic": "hotels", "thread": max(n, 4)} for n in range(10)]
    rows += [{"score": 1, "model": "a", "topic": "rare"}, {"score": 5, "model": "b"}]
    first, second = Parsed(saved(tmp_path, *rows)).data["versions"]
    assert [topic[:3] for topic in first["topics"]] == [
        ["hotels", "10 (6 independent)", "4.0"],
        ["other", "1", "1.0"],
    ]
    assert second["topics"] == []


def test_judge_versions_are_kept_apart(tmp_path: Path) -> None:
    named = {"rubric": "additive-5", "rubric_version": "f846c469"}
    rows = [
        {"score": 1, "model": "a", **named, "samples": 3},
        {"score": 5, "model": "b", **named},
        {"score": 2, "model": "a", **named, "samples": 1},
        {"score": 3, "model": "a", **named, "samples": 3},
    ]
    data = Parsed(saved(tmp_path, *rows)).data
    assert [(version["name"], version["notes"][0][:9]) for version in data["versions"]] == [
        ("a · additive-5 (f846c469) · 3 ratings", "Mean 2.00"),
        ("b · additive-5 (f846c469)", "Mean 5.00"),
        ("a · additive-5 (f846c469) · 1 rating", "Mean 2.00"),
    ]


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: judge("view", *arguments)


def test_page_is_written_beside_the_file_and_readable_only_by_its_owner(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "scored.jsonl").write_text('{"score": 4, "completion": "So."}')
    code, out, _ = run("scored.jsonl")
    assert (code, out) == (0, "scored.html: 1 reply, 0.1 MB; open it in a browser.\n")
    assert stat.filemode((tmp_path / "scored.html").stat().st_mode) == "-rw-------"


def test_symbolic_link_beside_the_page_is_not_followed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "scored.jsonl").write_text('{"score": 4}')
    (tmp_path / "elsewhere").write_text("somebody's")
    (tmp_path / "scored.html.part").symlink_to(tmp_path / "elsewhere")
    assert run("scored.jsonl")[0] == 0
    assert (tmp_path / "elsewhere").read_text() == "somebody's"
    assert not (tmp_path / "scored.html").is_symlink()


def test_earlier_page_is_replaced_and_no_other_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "scored.jsonl").write_text('{"score": 4}\n{"score": 5}')
    (tmp_path / "mine.html").write_text("<!doctype html>\nmy own page")
    assert run("scored.jsonl", "-o", "page.html", "--limit", "1")[0] == 0
    assert run("scored.jsonl", "-o", "page.html")[0] == 0
    assert len(Parsed(tmp_path / "page.html").data["replies"]) == 2
    code, _, err = run("scored.jsonl", "-o", "mine.html")
    assert code == 2
    assert "mine.html: not a page of slack-judge, and would be overwritten" in err
    assert (tmp_path / "mine.html").read_text() == "<!doctype html>\nmy own page"


def test_unusable_line_is_reported_and_the_page_written_with_the_labels_that_were_chosen(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "scored.jsonl").write_text('{"score": 4, "human": 5, "quality": 0.2}\nno JSON')
    code, out, err = run("scored.jsonl", "--label", "quality", "--scale", "0-1")
    assert (code, out[:22]) == (1, "scored.html: 1 reply, ")
    assert err.startswith("line 2: not JSON")
    (reply,) = Parsed(tmp_path / "scored.html").data["replies"]
    assert reply["labels"] == [{"score": 1, "blind": None, "reason": ""}]
    assert (reply["miss"], reply["bar"]) == (3, "4")
