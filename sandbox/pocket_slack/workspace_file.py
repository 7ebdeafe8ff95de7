"""A workspace from a TOML file: people, bots, channels, and what was said in them; `example.toml`
shows the form.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from pocket_slack.clock import Clock, SystemClock
from pocket_slack.errors import SandboxError, listed
from pocket_slack.hindsight import Hindsight
from pocket_slack.limits import Limits
from pocket_slack.manifest import Manifest
from pocket_slack.people import Person
from pocket_slack.steps import Step
from pocket_slack.text import to_elements, to_text
from pocket_slack.toml_lines import Place, line_of
from pocket_slack.workspace import SLACKBOT_NAME, Workspace, to_domain

EXAMPLE = Path(__file__).with_name("example.toml")

_UNITS = {"d": "days", "h": "hours", "m": "minutes"}
_AGO = re.compile(r"(?:(\d{1,3})d)? ?(?:(\d{1,2})h)? ?(?:(\d{1,2})m)?")
_NOW = timedelta()


def to_ago(text: object) -> timedelta:
    """The duration in a text such as `3d 2h 5m`.

    Raises:
        PydanticCustomError: The text is not in that form.
    """
    if isinstance(text, timedelta):
        return text
    found = _AGO.fullmatch(text.strip()) if isinstance(text, str) else None
    if not found or not any(found.groups()):
        raise PydanticCustomError(
            "ago", 'expected days, hours and minutes, such as "1d 3h" or "25m"'
        )
    amounts = zip(_UNITS.values(), found.groups(), strict=True)
    return timedelta(**{unit: int(amount) for unit, amount in amounts if amount})


Ago = Annotated[timedelta, BeforeValidator(to_ago)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=12_000)]
Handle = Annotated[str, StringConstraints(pattern=r"^[\w.-]{1,80}$")]

_REASONS = {
    "missing": "this has to be given",
    "extra_forbidden": "there is no such setting",
    "string_pattern_mismatch": (
        "up to 80 letters, digits, dots, hyphens and underscores, without spaces"
    ),
    "tuple_type": (
        'a list has to be given, such as ["ann", "ben"], or as [[tables]] where there are '
        "several settings"
    ),
}


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class PersonEntry(_Entry):
    """A person; `name` is what others type after `@`."""

    name: Handle
    real_name: str = ""


class BotEntry(_Entry):
    """Another app's bot."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80)]


class MessageEntry(_Entry):
    """A message, with the replies in its thread; `ago` says how long before the start it was
    written.
    """

    author: str = Field(alias="from")
    text: Text
    ago: Ago = _NOW
    replies: tuple["MessageEntry", ...] = ()


class ChannelEntry(_Entry):
    """A channel; the app under test is a member unless `app` is false."""

    name: Handle
    members: tuple[str, ...]
    private: bool = False
    app: bool = True
    messages: tuple[MessageEntry, ...] = ()


class PreviewEntry(_Entry):
    """What the preview of links to a page says; without a title, it is made of the address."""

    url: str
    title: str | None = None
    text: str | None = None
    service_name: str | None = None


class StepEntry(_Entry):
    """Something for a visitor to try; `done` is a part of the journal's entry that shows that it
    was done.
    """

    text: Text
    done: dict[str, Any] = Field(min_length=1)


class WorkspaceFile(_Entry):
    """The whole file."""

    name: str = "Pocket"
    people: tuple[PersonEntry, ...] = Field(min_length=1)
    bots: tuple[BotEntry, ...] = ()
    channels: tuple[ChannelEntry, ...] = Field(min_length=1)
    previews: tuple[PreviewEntry, ...] = ()
    steps: tuple[StepEntry, ...] = ()


def open_workspace(
    manifest: Mapping[str, Any],
    path: Path = EXAMPLE,
    *,
    clock: Clock | None = None,
    limits: Limits | None = None,
    said: Mapping[str, Sequence[MessageEntry]] | None = None,
) -> Workspace:
    """The workspace that a file describes, with the app of that manifest installed.

    Args:
        manifest: The app's manifest.
        path: The file.
        clock: As for `Workspace`.
        limits: As for `Workspace`.
        said: More messages of the file's channels, by the channel's name.

    Raises:
        SandboxError: The file is missing or wrong; the message names the line and the reason.
    """
    content = read_workspace_file(
        path, taken=(SLACKBOT_NAME, Manifest.from_dict(manifest).bot_name)
    )
    hindsight = Hindsight(clock or SystemClock())
    workspace = Workspace(manifest, clock=hindsight, limits=limits, name=content.name)
    people = [workspace.add_user(person.name, person.real_name) for person in content.people]
    for bot in content.bots:
        workspace.add_bot(bot.name)
    for page in content.previews:
        workspace.previews[page.url] = page.model_dump(exclude={"url"}, exclude_none=True)
    for channel in content.channels:
        _add_channel(workspace, channel)
    for person in people if workspace.manifest.has_messages_tab else ():
        workspace.im(person.id)
    more = (
        each.model_copy(update={"messages": tuple((said or {}).get(each.name, ()))})
        for each in content.channels
    )
    _write(workspace, hindsight, [*content.channels, *more])
    named = {each.name: each.id for each in workspace.channels.values()}
    steps = [Step(to_text(to_elements(step.text, {}, named)), step.done) for step in content.steps]
    workspace.steps.begin(steps)
    return workspace


def read_workspace_file(path: Path, taken: Collection[str] = ()) -> WorkspaceFile:
    """The content of a file, checked.

    Args:
        path: The file.
        taken: Names that its people and bots may not have.

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
        # A misspelled setting is both unknown and missing; the unknown name explains more.
        first = min(exc.errors(), key=lambda error: error["type"] != "extra_forbidden")
        raise SandboxError(
            _complaint(path, text, first["loc"], _REASONS.get(first["type"], first["msg"]))
        ) from exc
    for place, reason in _contradictions(content, taken):
        raise SandboxError(_complaint(path, text, place, reason))
    return content


def _add_channel(workspace: Workspace, entry: ChannelEntry) -> None:
    members = [workspace.user(name) for name in entry.members]
    app = [workspace.bot] if entry.app else []
    workspace.add_channel(entry.name, [*members, *app], entry.private)


def _write(workspace: Workspace, hindsight: Hindsight, channels: Iterable[ChannelEntry]) -> None:
    """Posts all messages of all channels, oldest first, because timestamps always increase."""
    timestamps: dict[int, str] = {}
    said = [each for channel in channels for each in _said(channel)]
    for channel_name, message, parent in sorted(said, key=lambda each: -each[1].ago):
        with hindsight.back(message.ago):
            thread_ts = timestamps[id(parent)] if parent else None
            posted = Person(workspace, message.author).post(
                channel_name, message.text, thread_ts=thread_ts
            )
        timestamps[id(message)] = posted.ts


def _said(channel: ChannelEntry) -> Iterator[tuple[str, MessageEntry, MessageEntry | None]]:
    """A channel's messages and replies with their parents, in the order of the file."""
    for message in channel.messages:
        yield channel.name, message, None
        for reply in message.replies:
            yield channel.name, reply, message


def _contradictions(content: WorkspaceFile, taken: Collection[str]) -> Iterator[tuple[Place, str]]:
    try:
        to_domain(content.name)
    except SandboxError as exc:
        yield ("name",), str(exc)
    people = [person.name for person in content.people]
    names = people + [bot.name for bot in content.bots]
    yield from _repeated("people", people, taken)
    yield from _repeated("bots", names[len(people) :], [*taken, *people])
    yield from _repeated("channels", [channel.name for channel in content.channels])
    for index, channel in enumerate(content.channels):
        place: Place = ("channels", index)
        for member in channel.members:
            if member not in names:
                yield (
                    (*place, "members"),
                    f"no person or bot is called {member!r}; there are {listed(names)}",
                )
        yield from _strangers((*place, "messages"), channel, channel.messages)
        yield from _anachronisms((*place, "messages"), channel.messages)


def _repeated(
    table: str, names: Sequence[str], taken: Collection[str] = ()
) -> Iterator[tuple[Place, str]]:
    for index, name in enumerate(names):
        if name in taken or name in names[:index]:
            yield (table, index, "name"), f"{name!r} is there already"


def _strangers(
    place: Place, channel: ChannelEntry, messages: Iterable[MessageEntry]
) -> Iterator[tuple[Place, str]]:
    for index, message in enumerate(messages):
        if message.author not in channel.members:
            yield (
                (*place, index, "from"),
                f"{message.author!r} is not among the members of {channel.name!r}",
            )
        yield from _strangers((*place, index, "replies"), channel, message.replies)


def _anachronisms(place: Place, messages: Sequence[MessageEntry]) -> Iterator[tuple[Place, str]]:
    for index, message in enumerate(messages):
        if index and message.ago > messages[index - 1].ago:
            yield (
                (*place, index, "ago"),
                "older than the message above it; messages stand in the order they came",
            )
        for number, reply in enumerate(message.replies):
            if reply.ago > message.ago:
                yield (
                    (*place, index, "replies", number, "ago"),
                    "older than the message that it replies to",
                )
        yield from _anachronisms((*place, index, "replies"), message.replies)


def _complaint(path: Path, text: str, place: Place, reason: str) -> str:
    line = line_of(text, place)
    where = ".".join(str(part + 1) if isinstance(part, int) else part for part in place)
    return f"{path}{f', line {line}' if line else ''}: {where}: {reason}"
