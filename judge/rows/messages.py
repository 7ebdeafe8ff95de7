"""Reads messages as logs have them: a question, its response, and the conversation before it.

Messages of Chat Completions, items of Responses, Anthropic's blocks and LangChain's roles are read.
What is no text is marked at its place (`[picture: ...]`), and reasoning, which nobody was shown, is
left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from judge.rows.files import decode, encode, kind_of
from judge.scoring.attacks.marks import mark, unmark
from judge.scoring.conversation import Turn, bounded

_ROLES = {"human": "user", "function": "tool"} | dict.fromkeys(
    ("ai", "model", "bot", "agent"), "assistant"
)
_ROLES |= {role: role for role in ("user", "assistant", "tool", "system", "developer")}
_FIELDS = {"content", "text", "tool_calls", "function_call", "audio", "refusal"}
_UNSEEN = {"thinking", "redacted_thinking", "reasoning"}
# the ends of types, such as server_tool_use
_CALLS = ("tool_use", "tool_call")
_RESULTS = ("tool_result",)
_KINDS = {
    "image": "picture",
    "document": "file",
    "audio": "audio",
    "video": "video",
    "file": "file",
}
_TEXTS = ("text", "output_text")
_SOURCES = ("citation", "_location")  # the ends of types, such as url_citation
_TITLES = ("title", "document_title", "filename")
_URLS = ("url", "source")


class Dialogue(NamedTuple):
    question: str
    response: str
    turns: tuple[Turn, ...] = ()

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The turns within the bounds of what a judge gets."""
        return bounded(self.turns)


@dataclass(slots=True)
class _Said:
    """A message or step.

    `has_words`: some text is not a mark; `unread`: the parts that have nothing but a mark.
    """

    role: str
    text: str
    has_words: bool = False
    is_step: bool = False
    unread: Sequence[Mapping[str, Any]] = ()


def read_messages(messages: Sequence[Any]) -> Dialogue:
    """The last question with an answer, and all that the assistant says after it; "" for what is
    missing.

    Steps after the question are not the response: they end the conversation, and their roles say
    so. What the assistant says before its last step is marked as a step, if more follows.

    If these are no messages, the ValueError completes "line 17: ".
    """
    before, asked, after = _divide(messages)
    unknown = next((each.role for each in after if each.role not in _ROLES.values()), None)
    if unknown is not None and not (asked and any(each.role == "assistant" for each in after)):
        missing = "answer by an assistant" if asked else "question by a user"
        raise ValueError(
            f"messages have no {missing}, and a role that is not known: {unknown[:40]!r}"
        )
    last_step = max((at for at, each in enumerate(after) if each.is_step), default=-1)
    goes_on = any(each.has_words for each in after[last_step + 1 :] if each.role == "assistant")
    answer = list[_Said]()
    others = list[_Said]()
    for at, each in enumerate(after):
        if each.is_step or each.role != "assistant":
            others.append(replace(each, role=f"{each.role} after the question"))
        elif goes_on and at < last_step and each.has_words:
            answer.append(_Said(each.role, mark("step", each.text)))
        else:
            answer.append(each)
    return Dialogue(_joined(asked), _joined(answer), _to_turns([*before, *others]))


def find_prompt(messages: Sequence[Any]) -> str:
    """What was asked, as `to_prompt` has it, with digests of the pictures and files in it."""
    before, asked, _ = _divide(messages)
    parts = (encode(part).encode() for each in (*before, *asked) for part in each.unread)
    return to_prompt(
        _joined(asked), _to_turns(before), *(sha256(part).hexdigest() for part in parts)
    )


def to_prompt(question: str, turns: Iterable[Turn], *others: str) -> str:
    """A text that identifies a prompt: equal for all responses to it."""
    before = [(turn.role, turn.text) for turn in turns]
    return encode([*before, question, *others]) if before or others else question


def has_reply(messages: Sequence[Any]) -> bool:
    """Whether the assistant's reply can be read, if only as an empty text: it is there, and not
    only in marks.
    """
    said = [each for each in _divide(messages)[2] if each.role == "assistant" and not each.is_step]
    return any(each.has_words for each in said) or (
        bool(said) and not any(each.text.strip() for each in said)
    )


def completed(messages: Sequence[Any], system: Any, response: str | None) -> Sequence[Any]:
    """The messages with the system prompt and the response beside them; raises ValueError if they
    have an answer.
    """
    first = (
        [{"role": "system", "content": system}] if system and isinstance(system, str | list) else []
    )
    last = [] if response is None else [{"role": "assistant", "content": response}]
    said = (
        _read(messages, "messages") if first or last else []
    )  # so that a problem has the number that the list has
    if last and said and said[-1].role == "assistant" and not said[-1].is_step:
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
    said = [
        (at, each.role)
        for at, message in enumerate(messages, start=1)
        for each in _read([message], "messages")
    ]
    question, answer = (said[end - 1][0] if end else 0 for end in _ends([role for _, role in said]))
    return messages[:question], messages[question:answer]


def _divide(messages: Sequence[Any]) -> tuple[list[_Said], list[_Said], list[_Said]]:
    """What is said before the question, in the question, and after it up to the end of the answer."""
    said = _read(messages, "messages")
    question, answer = _ends([each.role for each in said])
    asked = [*takewhile(lambda each: each.role == "user", reversed(said[:question]))][::-1]
    return said[: question - len(asked)], asked, said[question:answer]


def _ends(roles: Sequence[str]) -> tuple[int, int]:
    """Where the question and its answer end.

    What the user says last, such as thanks, is neither if there is one.
    """
    answer = next((at for at in range(len(roles), 0, -1) if roles[at - 1] != "user"), 0)
    for end in (answer, len(roles)):
        question = max(
            (at for at, role in enumerate(roles[:end], start=1) if role == "user"), default=0
        )
        if question and "assistant" in roles[question:end]:
            break
    return question, end


def _joined(said: Sequence[_Said]) -> str:
    return "\n\n".join(each.text for each in said if each.text)


def _to_turns(said: Iterable[_Said]) -> tuple[Turn, ...]:
    return tuple(Turn(each.role, each.text, each.is_step) for each in said if each.text.strip())


def _read(messages: Sequence[Any], name: str) -> list[_Said]:
    said: list[_Said] = []
    for number, message in enumerate(messages, start=1):
        try:
            if not isinstance(message, Mapping):
                raise ValueError(f"is {kind_of(message)} where an object belongs")
            new = list(_read_message(message))
            "".join(each.role + each.text for each in new).encode()
            said += new
        except UnicodeEncodeError as exc:
            raise ValueError(
                f"message {number} of {name} holds half a surrogate pair, which is not Unicode"
            ) from exc
        except ValueError as exc:
            raise ValueError(f"message {number} of {name} {exc}") from exc
    return said


def _read_message(message: Mapping[str, Any]) -> Iterator[_Said]:
    inner = message.get("kwargs", message.get("data"))  # LangChain's two forms of a saved message
    if isinstance(inner, Mapping) and "content" in inner:
        path = message.get(
            "id"
        )  # ends with the class, which in JavaScript's form alone says who speaks
        message = ({"role": path[-1]} if path and isinstance(path, list) else {}) | {
            **message,
            **inner,
        }
    role = message.get("role")
    kind = message.get("type")
    if role is None and isinstance(kind, str):
        if "content" not in message or kind in _UNSEEN:
            yield from _read_item(kind, message)
            return
        role = kind
    if not isinstance(role, str):
        raise ValueError("has no role" if role is None else f"has {kind_of(role)} as its role")
    role = _ROLES.get(
        role.removesuffix("Chunk").removesuffix("Message").lower(), role
    )  # LangChain has its classes
    if not _FIELDS & message.keys():
        raise ValueError(f"has no content, only {', '.join(message)[:200]}")
    parts = _parts(message.get("content", message.get("text")))
    cited = [
        message.get("annotations"),
        *(part.get(name) for part in parts for name in ("annotations", "citations")),
    ]
    shown = _together(parts) if role == "assistant" else parts
    said = _to_said(role, [*shown, *_beside(message)], cited)
    if role == "tool":
        yield replace(said, is_step=True)
        yield from _steps(parts)
        return
    if message.get("phase") == "commentary":
        said = replace(said, text=said.text and mark("step", said.text), has_words=False)
    steps = [*_steps(parts), *_calls(message)]
    # In Anthropic's logs, a message by the user may be nothing but the results of tools, or begin
    # with them.
    own = [said] if said.text or not steps else []
    yield from (*steps, *own) if role == "user" else (*own, *steps)


def _together(parts: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """An assistant's parts; texts in a row are one, with nothing between, since citations divide
    its sentences.

    They are without the thinking that some servers leave at the beginning, even if a tag is
    missing.
    """
    for is_text, run in groupby(
        parts, lambda part: _kind(part) in _TEXTS and isinstance(part.get("text"), str)
    ):
        if not is_text:
            yield from run
            continue
        said = "".join(part["text"] for part in run)
        thought, end, rest = said.partition("</think>")
        is_alone = (
            end and "<think>" not in thought and (thought.endswith("\n") or rest.startswith("\n"))
        )
        yield {
            "text": rest.lstrip() if is_alone or thought.lstrip().startswith("<think>") else said
        }


def _beside(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What Chat Completions has beside the content."""
    if isinstance(refusal := message.get("refusal"), str):
        yield {"type": "refusal", "refusal": refusal}
    if isinstance(audio := message.get("audio"), Mapping):
        yield {"type": "audio", **audio}


def _calls(message: Mapping[str, Any]) -> Iterator[_Said]:
    calls = message.get("tool_calls") or [message.get("function_call")]
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            function = call.get("function")
            yield _call(function if isinstance(function, Mapping) else call)


def _steps(parts: Iterable[Mapping[str, Any]]) -> Iterator[_Said]:
    for part in parts:
        if _kind(part).endswith(_CALLS):
            yield _call(part)
        elif _kind(part).endswith(_RESULTS):
            yield _result(part.get("content", part.get("output")))


def _read_item(kind: str, item: Mapping[str, Any]) -> Iterator[_Said]:
    """The steps of an item of Responses that is no message."""
    if kind in _UNSEEN:
        return
    if not kind.endswith("_output"):
        yield _call(item)
    if item.get("output") is not None:
        yield _result(item["output"])


def _call(call: Mapping[str, Any]) -> _Said:
    given = next(
        (call[name] for name in ("arguments", "args", "input", "action") if call.get(name)), ""
    )
    names = "name", "toolName", "function", "type"
    name = next((call[each] for each in names if isinstance(call.get(each), str)), "tool")
    words = f"{name} {given if isinstance(given, str) else encode(given)}"
    return _Said("assistant", mark("step", words), is_step=True)


def _result(content: Any) -> _Said:
    if not isinstance(content, str | list | None):
        return _Said("tool", unmark(encode(content)), is_step=True)
    return replace(_to_said("tool", _parts(content)), is_step=True)


def _to_said(role: str, parts: Iterable[Mapping[str, Any]], sources: Iterable[Any] = ()) -> _Said:
    """A message, with a line or more for each part, and then its sources."""
    lines: list[str] = []
    has_words = False
    unread = []
    for part in parts:
        kind = _kind(part)
        if kind in _UNSEEN or kind.endswith((*_CALLS, *_RESULTS)):
            continue
        words = next(
            (
                part[name]
                for name in ("text", "refusal", "transcript")
                if part.get(name) is not None
            ),
            None,
        )
        if isinstance(words, str):
            lines.append(unmark(words))
            has_words |= bool(words.strip())
        elif words is not None:
            raise ValueError(f"has {kind_of(words)} where a text belongs")
        else:
            lines.append(_to_mark(kind, part))
            unread.append(part)
    cited = (
        each
        for given in sources
        if isinstance(given, list)
        for each in given
        if isinstance(each, Mapping)
    )
    marks = (_to_source(each) for each in cited if str(each.get("type")).endswith(_SOURCES))
    return _Said(role, "\n".join([*lines, *dict.fromkeys(marks)]), has_words, unread=unread)


def _kind(part: Mapping[str, Any]) -> str:
    return str(part.get("type", "text")).replace("-", "_")


def _to_mark(kind: str, part: Mapping[str, Any]) -> str:
    plain = kind
    for affix in ("input_", "output_", "_url", "_file"):
        plain = plain.replace(affix, "")
    if plain not in _KINDS:
        return mark("block", kind)
    inner = part.get(kind)
    given = {**part, **inner} if isinstance(inner, Mapping) else part
    named = (given.get(name) for name in ("alt_text", "alt", "filename", "name", "title"))
    return mark(_KINDS[plain], next((each for each in named if isinstance(each, str)), ""))


def _to_source(annotation: Mapping[str, Any]) -> str:
    inner = annotation.get("url_citation")
    given = inner if isinstance(inner, Mapping) else annotation
    title, url = (
        next((str(given[name]) for name in names if given.get(name)), "")
        for names in (_TITLES, _URLS)
    )
    return mark("source", f"{title} ({url})" if url else title)


def _parts(content: Any) -> list[Mapping[str, Any]]:
    given = content if isinstance(content, list) else [] if content is None else [content]
    parts = [{"type": "text", "text": each} if isinstance(each, str) else each for each in given]
    for part in parts:
        if not isinstance(part, Mapping):
            raise ValueError(
                f"has {kind_of(part)} as its content, where a text or a list of parts belongs"
            )
    return parts
