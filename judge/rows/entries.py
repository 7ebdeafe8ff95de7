"""Reads each message or step of a log as a text with its role.

Read are the messages of OpenAI's Chat Completions, the items of its Responses, and Anthropic's
messages. What is no text is marked at its place (`[picture]`), and reasoning, which nobody was
shown, is left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeAlias

from judge.rows.files import encode, kind_of
from judge.scoring.attacks.marks import mark, unmark

_CONTENTS = {"content", "tool_calls", "audio", "refusal"}
_UNSEEN = {"thinking", "redacted_thinking", "reasoning", "compaction", "item_reference"}
_TEXTS = ("text", "output_text")
_PICTURE = "picture"
_FILE = "file"
_AUDIO = "audio"
_MARKS = {
    "image_url": _PICTURE,
    "input_image": _PICTURE,
    "image": _PICTURE,
    "file": _FILE,
    "input_file": _FILE,
    "document": _FILE,
    "input_audio": _AUDIO,
    "audio": _AUDIO,
}
# The ends of types, such as server_tool_use, web_search_call and url_citation.
_CALLS = "tool_use"
_RESULTS = "tool_result"
_ITEMS = ("_call", "_output")
_CITATIONS = ("citation", "_location")
_READ = "only the messages of OpenAI and Anthropic are read"

_Part: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class Entry:
    """A message or step.

    `has_words`: some text is not a mark; `unread`: the parts that have nothing but a mark.
    """

    role: str
    text: str
    has_words: bool = False
    is_step: bool = False
    unread: Sequence[_Part] = ()


def read_entries(messages: Sequence[Any], name: str) -> list[Entry]:
    entries: list[Entry] = []
    for number, message in enumerate(messages, start=1):
        try:
            if not isinstance(message, Mapping):
                raise ValueError(f"is {kind_of(message)} where an object belongs")
            entries += _read_message(message)
        except ValueError as exc:
            raise ValueError(f"message {number} of {name} {exc}") from exc
    return entries


def _read_message(message: _Part) -> list[Entry]:
    role = message.get("role")
    if role is None:
        return _read_item(message)
    if not isinstance(role, str):
        raise ValueError(f"has {kind_of(role)} as its role")
    if not _CONTENTS & message.keys():
        raise ValueError(f"has no content, only {', '.join(message)[:200]}; {_READ}")
    parts = _to_parts(message.get("content"))
    citations = _citations(message, parts)
    shown = _together(parts) if role == "assistant" else parts
    entry = _to_entry(role, [*shown, *_beside_content(message)], citations)
    if role == "tool":
        return [replace(entry, is_step=True)]
    # Responses marks so what the assistant says before it calls a tool.
    if message.get("phase") == "commentary" and entry.text:
        entry = replace(entry, text=mark("step", entry.text), has_words=False)
    steps = [*_steps(parts), *_calls(message)]
    if not entry.text and steps:
        return steps
    # In Anthropic's logs, a message by the user may begin with the results of tools.
    return [*steps, entry] if role == "user" else [entry, *steps]


def _read_item(item: _Part) -> list[Entry]:
    """The steps of an item of Responses that is no message."""
    kind = str(item.get("type"))
    if kind in _UNSEEN:
        return []
    if not kind.endswith(_ITEMS) and not kind.startswith("mcp_"):
        raise ValueError(f"has no role; {_READ}")
    entries = []
    if not kind.endswith("_output"):
        entries.append(_to_call(item))
    if item.get("output") is not None:
        entries.append(_to_result(item["output"]))
    return entries


def _together(parts: Iterable[_Part]) -> Iterator[_Part]:
    """An assistant's parts; texts in a row are one, with nothing between, since citations divide
    its sentences.
    """
    for is_text, run in groupby(parts, _is_text):
        if is_text:
            yield {"text": _without_thinking("".join(part["text"] for part in run))}
        else:
            yield from run


def _is_text(part: _Part) -> bool:
    return _kind(part) in _TEXTS and isinstance(part.get("text"), str)


def _without_thinking(text: str) -> str:
    """The text without the thinking that some servers leave at its beginning."""
    thought, closing, answer = text.partition("</think>")
    if thought.lstrip().startswith("<think>"):
        return answer.lstrip()
    # Chat templates that open the thinking themselves leave only the closing tag in the text.
    ends_line = thought.endswith("\n") or answer.startswith("\n")
    if closing and ends_line and "<think>" not in thought:
        return answer.lstrip()
    return text


def _beside_content(message: _Part) -> Iterator[_Part]:
    """What Chat Completions has beside the content."""
    if isinstance(refusal := message.get("refusal"), str):
        yield {"type": "refusal", "refusal": refusal}
    if isinstance(audio := message.get("audio"), Mapping):
        yield {"type": "audio", **audio}


def _calls(message: _Part) -> Iterator[Entry]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            function = call.get("function")
            yield _to_call(function if isinstance(function, Mapping) else call)


def _steps(parts: Iterable[_Part]) -> Iterator[Entry]:
    for part in parts:
        if _kind(part).endswith(_CALLS):
            yield _to_call(part)
        elif _kind(part).endswith(_RESULTS):
            yield _to_result(part.get("content"))


def _to_call(call: _Part) -> Entry:
    name = _first(call, ("name", "type")) or "tool"
    given = call.get("arguments") or call.get("input") or call.get("action") or ""
    arguments = given if isinstance(given, str) else encode(given)
    return Entry("assistant", mark("step", f"{name} {arguments}"), is_step=True)


def _to_result(content: Any) -> Entry:
    # Some results of Anthropic's and OpenAI's own tools are objects.
    if not isinstance(content, str | list | None):
        return Entry("tool", unmark(encode(content)), is_step=True)
    return replace(_to_entry("tool", _to_parts(content)), is_step=True)


def _to_entry(role: str, parts: Iterable[_Part], citations: Iterable[_Part] = ()) -> Entry:
    """A message, with a line or more for each part, and then its sources."""
    lines: list[str] = []
    unread: list[_Part] = []
    has_words = False
    for part in parts:
        kind = _kind(part)
        if kind in _UNSEEN or kind.endswith((_CALLS, _RESULTS)):
            continue
        text = _to_text(part)
        if text is None:
            lines.append(_to_mark(part))
            unread.append(part)
        else:
            lines.append(unmark(text))
            has_words = has_words or bool(text.strip())
    sources = dict.fromkeys(_to_source(citation) for citation in citations)
    return Entry(role, "\n".join([*lines, *sources]), has_words, unread=unread)


def _to_text(part: _Part) -> str | None:
    for name in ("text", "refusal", "transcript"):
        text = part.get(name)
        if isinstance(text, str):
            return text
        if text is not None:
            raise ValueError(f"has {kind_of(text)} where a text belongs")
    return None


def _kind(part: _Part) -> str:
    return str(part.get("type", "text"))


def _to_mark(part: _Part) -> str:
    kind = _kind(part)
    if kind not in _MARKS:
        return mark("block", kind)
    # Chat Completions has the file's name inside `file`.
    inner = part.get(kind)
    named = inner if isinstance(inner, Mapping) else part
    return mark(_MARKS[kind], _first(named, ("filename", "title")))


def _citations(message: _Part, parts: Iterable[_Part]) -> Iterator[_Part]:
    lists = [message.get("annotations")]
    for part in parts:
        lists += [part.get("annotations"), part.get("citations")]
    for citations in lists:
        for citation in citations if isinstance(citations, list) else ():
            if isinstance(citation, Mapping) and _kind(citation).endswith(_CITATIONS):
                yield citation


def _to_source(citation: _Part) -> str:
    inner = citation.get("url_citation")
    named = inner if isinstance(inner, Mapping) else citation
    title = _first(named, ("title", "document_title", "filename"))
    url = _first(named, ("url", "source"))
    return mark("source", f"{title} ({url})" if url else title)


def _first(part: _Part, names: Iterable[str]) -> str:
    """The first of these fields that is a string and not empty; otherwise ""."""
    for name in names:
        value = part.get(name)
        if value and isinstance(value, str):
            return value
    return ""


def _to_parts(content: Any) -> Sequence[_Part]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    parts = [] if content is None else content
    if not isinstance(parts, list):
        raise ValueError(
            f"has {kind_of(content)} as its content, where a text or a list of parts belongs"
        )
    for part in parts:
        if not isinstance(part, Mapping):
            raise ValueError(f"has {kind_of(part)} among its parts, where an object belongs")
    return parts
