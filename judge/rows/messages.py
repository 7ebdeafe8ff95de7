"""Reads messages as logs have them: a question, its response, and the conversation before it.

Read are the messages of OpenAI's Chat Completions, the items of its Responses, and Anthropic's
messages. What is no text is marked at its place (`[picture]`), and reasoning, which nobody was
shown, is left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from judge.rows.files import decode, encode, kind_of
from judge.scoring.attacks.marks import mark, unmark
from judge.scoring.conversation import Turn, bounded

_ROLES = ("user", "assistant", "tool", "system", "developer")
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


class Dialogue(NamedTuple):
    question: str
    response: str
    turns: tuple[Turn, ...] = ()

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The turns within the bounds of what a judge gets."""
        return bounded(self.turns)


@dataclass(slots=True)
class _Entry:
    """A message or step.

    `has_words`: some text is not a mark; `unread`: the parts that have nothing but a mark.
    """

    role: str
    text: str
    has_words: bool = False
    is_step: bool = False
    unread: Sequence[_Part] = ()


class _Division(NamedTuple):
    """What comes before the question, the question, and what follows up to the answer's end."""

    before: Sequence[_Entry]
    question: Sequence[_Entry]
    after: Sequence[_Entry]


def read_messages(messages: Sequence[Any]) -> Dialogue:
    """The last question with an answer, and all that the assistant says after it; "" for what is
    missing.

    Steps after the question are not the response: they end the conversation, and their roles say
    so. What the assistant says before its last step is marked as a step, if more follows.

    If these are no messages, the ValueError completes "line 17: ".
    """
    division = _divide(messages)
    after = division.after
    last_step = max((at for at, entry in enumerate(after) if entry.is_step), default=-1)
    words_follow = any(
        entry.has_words for entry in after[last_step + 1 :] if entry.role == "assistant"
    )
    answer: list[_Entry] = []
    others: list[_Entry] = []
    for at, entry in enumerate(after):
        if entry.is_step or entry.role != "assistant":
            others.append(replace(entry, role=f"{entry.role} after the question"))
        elif words_follow and at < last_step and entry.has_words:
            answer.append(replace(entry, text=mark("step", entry.text)))
        else:
            answer.append(entry)
    turns = _to_turns([*division.before, *others])
    return Dialogue(_joined(division.question), _joined(answer), turns)


def find_prompt(messages: Sequence[Any]) -> str:
    """What was asked, as `to_prompt` has it, with digests of the pictures and files in it."""
    division = _divide(messages)
    digests = [
        sha256(encode(part).encode()).hexdigest()
        for entry in (*division.before, *division.question)
        for part in entry.unread
    ]
    return to_prompt(_joined(division.question), _to_turns(division.before), *digests)


def to_prompt(question: str, turns: Iterable[Turn], *others: str) -> str:
    """A text that identifies a prompt: equal for all responses to it."""
    before = [(turn.role, turn.text) for turn in turns]
    return encode([*before, question, *others]) if before or others else question


def has_reply(messages: Sequence[Any]) -> bool:
    """Whether the assistant's reply can be read, if only as an empty text: it is there, and not
    only in marks.
    """
    replies = [
        entry
        for entry in _divide(messages).after
        if entry.role == "assistant" and not entry.is_step
    ]
    if any(entry.has_words for entry in replies):
        return True
    return bool(replies) and not any(entry.text.strip() for entry in replies)


def completed(messages: Sequence[Any], system: Any, response: str | None) -> Sequence[Any]:
    """The messages with the system prompt and the response beside them; raises ValueError if they
    have an answer.
    """
    first = []
    if system and isinstance(system, str | list):
        first = [{"role": "system", "content": system}]
    last = []
    if response is not None:
        last = [{"role": "assistant", "content": response}]
    # Read before anything is put in front, so that a problem has the number that the list has.
    entries = _read(messages, "messages") if first or last else []
    if last and entries and entries[-1].role == "assistant" and not entries[-1].is_step:
        raise ValueError("messages end with an answer, and response is another; leave one out")
    return [*first, *messages, *last]


def read_turns(conversation: Any) -> tuple[Turn, ...]:
    """The turns of a row's `conversation`: messages, their JSON, or none (None, "").

    Raises as `read_messages`.
    """
    if isinstance(conversation, str):
        with suppress(ValueError):
            conversation = decode(f'{{"it": {conversation or "null"}}}'.encode())["it"]
    if not isinstance(conversation, list | tuple | None):
        raise ValueError(
            f"conversation is {kind_of(conversation)} where a list belongs; rename it if "
            "it is something else"
        )
    return _to_turns(_read(conversation or (), "conversation"))


def split_messages(messages: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The messages up to the end of the question, and those up to the end of its answer; raises as
    `read_messages`.
    """
    numbers = [0]
    roles: list[str] = []
    for number, message in enumerate(messages, start=1):
        for entry in _read([message], "messages"):
            numbers.append(number)
            roles.append(entry.role)
    question, answer = _ends(roles)
    return messages[: numbers[question]], messages[numbers[question] : numbers[answer]]


def _divide(messages: Sequence[Any]) -> _Division:
    entries = _read(messages, "messages")
    for entry in entries:
        if entry.role not in _ROLES:
            raise ValueError(
                f"messages have a role that is not known: {entry.role[:40]!r}; known are "
                f"{', '.join(_ROLES)}"
            )
    end_of_question, end_of_answer = _ends([entry.role for entry in entries])
    start = end_of_question
    while start and entries[start - 1].role == "user":
        start -= 1
    return _Division(
        before=entries[:start],
        question=entries[start:end_of_question],
        after=entries[end_of_question:end_of_answer],
    )


def _ends(roles: Sequence[str]) -> tuple[int, int]:
    """Where the question and its answer end.

    What the user says last, such as thanks, is neither if there is an answer before it.
    """
    before_thanks = len(roles)
    while before_thanks and roles[before_thanks - 1] == "user":
        before_thanks -= 1
    for end in (before_thanks, len(roles)):
        question = end
        while question and roles[question - 1] != "user":
            question -= 1
        if question and "assistant" in roles[question:end]:
            break
    return question, end


def _joined(entries: Sequence[_Entry]) -> str:
    return "\n\n".join(entry.text for entry in entries if entry.text)


def _to_turns(entries: Iterable[_Entry]) -> tuple[Turn, ...]:
    return tuple(
        Turn(entry.role, entry.text, entry.is_step) for entry in entries if entry.text.strip()
    )


def _read(messages: Sequence[Any], name: str) -> list[_Entry]:
    entries: list[_Entry] = []
    for number, message in enumerate(messages, start=1):
        try:
            if not isinstance(message, Mapping):
                raise ValueError(f"is {kind_of(message)} where an object belongs")
            entries += _read_message(message)
        except ValueError as exc:
            raise ValueError(f"message {number} of {name} {exc}") from exc
    return entries


def _read_message(message: _Part) -> list[_Entry]:
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


def _read_item(item: _Part) -> list[_Entry]:
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


def _calls(message: _Part) -> Iterator[_Entry]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            function = call.get("function")
            yield _to_call(function if isinstance(function, Mapping) else call)


def _steps(parts: Iterable[_Part]) -> Iterator[_Entry]:
    for part in parts:
        if _kind(part).endswith(_CALLS):
            yield _to_call(part)
        elif _kind(part).endswith(_RESULTS):
            yield _to_result(part.get("content"))


def _to_call(call: _Part) -> _Entry:
    name = _first(call, ("name", "type")) or "tool"
    given = call.get("arguments") or call.get("input") or call.get("action") or ""
    arguments = given if isinstance(given, str) else encode(given)
    return _Entry("assistant", mark("step", f"{name} {arguments}"), is_step=True)


def _to_result(content: Any) -> _Entry:
    # Some results of Anthropic's and OpenAI's own tools are objects.
    if not isinstance(content, str | list | None):
        return _Entry("tool", unmark(encode(content)), is_step=True)
    return replace(_to_entry("tool", _to_parts(content)), is_step=True)


def _to_entry(role: str, parts: Iterable[_Part], citations: Iterable[_Part] = ()) -> _Entry:
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
    return _Entry(role, "\n".join([*lines, *sources]), has_words, unread=unread)


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
