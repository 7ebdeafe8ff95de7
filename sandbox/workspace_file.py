"""A workspace from a TOML file: people, bots, channels, and what was said in them; `example.toml` shows the form."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from sandbox.clock import Clock
from sandbox.errors import SandboxError
from sandbox.limits import Limits
from sandbox.people import Person
from sandbox.workspace import Workspace

EXAMPLE = Path(__file__).with_name("example.toml")

Place = tuple[int | str, ...]
"""Where something stands in the file, such as `("channels", 0, "messages", 2, "from")`."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=12_000)]
Handle = Annotated[str, StringConstraints(pattern=r"^[\w.-]{1,80}$")]

_REASONS = {"missing": "this has to be given", "extra_forbidden": "there is no such setting"}
_HEADING = re.compile(r"\s*\[\[?\s*([\w.]+)\s*\]\]?")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class PersonEntry(_Entry):
    """Somebody; `name` is what others type after `@`."""

    name: Handle
    real_name: str = ""


class BotEntry(_Entry):
    """Another app's bot."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80)]


class MessageEntry(_Entry):
    """A message, with the replies in its thread."""

    author: str = Field(alias="from")
    text: Text
    replies: tuple["MessageEntry", ...] = ()


class ChannelEntry(_Entry):
    """A channel; the app under test is a member unless `app` says no."""

    name: Handle
    members: tuple[str, ...]
    private: bool = False
    app: bool = True
    messages: tuple[MessageEntry, ...] = ()


class WorkspaceFile(_Entry):
    """The whole file."""

    name: str = "Pocket"
    people: tuple[PersonEntry, ...] = Field(min_length=1)
    bots: tuple[BotEntry, ...] = ()
    channels: tuple[ChannelEntry, ...] = Field(min_length=1)


def open_workspace(
    manifest: Mapping[str, Any], path: Path = EXAMPLE, *, clock: Clock | None = None, limits: Limits | None = None
) -> Workspace:
    """The workspace that a file describes, with the app of that manifest installed.

    Args:
        manifest: The app's manifest.
        path: The file.
        clock: As for `Workspace`.
        limits: As for `Workspace`.

    Raises:
        SandboxError: The file is missing or wrong; the message names the line and the reason.
    """
    content = read_workspace_file(path)
    workspace = Workspace(manifest, clock=clock, limits=limits, name=content.name)
    for person in content.people:
        workspace.add_user(person.name, person.real_name)
    for bot in content.bots:
        workspace.add_bot(bot.name)
    for channel in content.channels:
        _furnish(workspace, channel)
    return workspace


def read_workspace_file(path: Path) -> WorkspaceFile:
    """What a file says, checked.

    Raises:
        SandboxError: The file is missing or wrong; the message names the line and the reason.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = WorkspaceFile.model_validate(tomllib.loads(text))
    except (OSError, UnicodeDecodeError) as exc:
        raise SandboxError(f"{path}: cannot be read: {exc}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SandboxError(f"{path}: not TOML: {exc}") from exc
    except ValidationError as exc:
        # A setting under a wrong name is missing as well; the name explains more.
        first = min(exc.errors(), key=lambda error: error["type"] != "extra_forbidden")
        raise SandboxError(_complaint(path, text, first["loc"], _REASONS.get(first["type"], first["msg"]))) from exc
    for place, reason in _contradictions(content):
        raise SandboxError(_complaint(path, text, place, reason))
    return content


def _furnish(workspace: Workspace, entry: ChannelEntry) -> None:
    members = [workspace.user(name) for name in entry.members]
    app = [workspace.bot] if entry.app else []
    workspace.add_channel(entry.name, [*members, *app], entry.private)
    for message in entry.messages:
        parent = Person(workspace, message.author).post(entry.name, message.text)
        for reply in message.replies:
            Person(workspace, reply.author).post(entry.name, reply.text, thread_ts=parent.ts)


def _contradictions(content: WorkspaceFile) -> Iterator[tuple[Place, str]]:
    names = [person.name for person in content.people] + [bot.name for bot in content.bots]
    yield from _repeated("people", names)
    yield from _repeated("channels", [channel.name for channel in content.channels])
    for index, channel in enumerate(content.channels):
        place: Place = ("channels", index)
        for member in channel.members:
            if member not in names:
                yield (*place, "members"), f"no person or bot is called {member!r}; there are {names}"
        yield from _strangers((*place, "messages"), channel, channel.messages)


def _repeated(table: str, names: list[str]) -> Iterator[tuple[Place, str]]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield (table, index, "name"), f"{name!r} is there already"


def _strangers(place: Place, channel: ChannelEntry, messages: Iterable[MessageEntry]) -> Iterator[tuple[Place, str]]:
    for index, message in enumerate(messages):
        if message.author not in channel.members:
            yield (*place, index, "from"), f"{message.author!r} is not among the members of {channel.name!r}"
        yield from _strangers((*place, index, "replies"), channel, message.replies)


def _complaint(path: Path, text: str, place: Place, reason: str) -> str:
    line = _line_of(text, place)
    where = ".".join(str(part + 1) if isinstance(part, int) else part for part in place)
    return f"{path}{f', line {line}' if line else ''}: {where}: {reason}"


def _line_of(text: str, place: Place) -> int | None:
    """The line of a key, or of the nearest heading above it that is in the file."""
    lines = {found: number for number, found in _places(text)}
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _places(text: str) -> Iterator[tuple[int, Place]]:
    """Every heading and every key with its line. The TOML reader knows what stands there, but not where."""
    counts: dict[Place, int] = {}
    table: Place = ()
    is_inside_text = False
    for number, line in enumerate(text.splitlines(), 1):
        starts_inside = is_inside_text
        is_inside_text ^= line.count('"""') % 2 == 1
        if starts_inside:
            continue
        if heading := _HEADING.match(line):
            table = _entered(heading[1].split("."), counts)
            yield number, table
        elif key := re.match(r"\s*([\w-]+)\s*=", line):
            yield number, (*table, key[1])


def _entered(names: list[str], counts: dict[Place, int]) -> Place:
    """The place of the next entry under a heading such as `channels.messages`."""
    place: Place = ()
    for name in names[:-1]:
        place = (*place, name, counts.get((*place, name), 1) - 1)
    place = (*place, names[-1])
    counts[place] = counts.get(place, 0) + 1
    return (*place, counts[place] - 1)
