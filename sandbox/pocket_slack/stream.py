"""Server-sent events for the page: first everything as it is now, then every change.

Events are in the order of the journal. The id of each is `<run>-<entry>`, so that a browser that
reconnects with `Last-Event-ID` gets what it missed. If it missed too much, or the sandbox was
restarted, it starts with a snapshot.

    snapshot   what that person sees, the app's commands and shortcuts, the inspector's last entries
    message    {"channel": id, "message": ...}     new or changed; an ephemeral one says `is_ephemeral`
    gone       {"channel": id, "ts": ...}
    thread     {"channel": id, "ts": ..., "thread": ...}   its title, status and suggested prompts
    user       a new user
    channel    a channel as in the snapshot
    unseen     {"channel": id}                     left, and no longer visible
    view       the modal in front, or null
    home       the home tab
    steps      what a visitor may try, and what of it is done
    entry      a journal entry for the inspector

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import json
import re
import secrets
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from pocket_slack.journal import Entry
from pocket_slack.model import Json
from pocket_slack.people import Person
from pocket_slack.posts import shown
from pocket_slack.state import to_channel, to_state, to_view
from pocket_slack.workspace import Workspace

INSPECTED = (
    "connection",
    "envelope",
    "ack",
    "failure",
    "call",
    "response_url",
    "fault",
    "execution",
)
INSPECTOR_REMEMBERS = 200
HEARTBEAT_S = 15
"""After this long without news a comment is sent, because a closed connection is noticed only by writing to it."""

RETRY_MS = 500

_MASK = "•••"
_SECRETS = (
    re.compile(r"\b(xox[a-z]-|xapp-|xwfp-)[\w-]+"),
    re.compile(r"([?&]ticket=)[\w-]+"),
    re.compile(r"(://[^/\s]+/(?:commands|actions|app|upload/v1)/)[\w-]+"),
)

Event = tuple[str, Any]


class Stream:
    """The feed of one workspace, for any number of browsers."""

    def __init__(self, workspace: Workspace) -> None:
        self._ws = workspace
        self._run = secrets.token_hex(4)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serves one browser until it disconnects."""
        person = Person(self._ws, request.query.get("as", ""))
        news: asyncio.Queue[Entry] = asyncio.Queue()
        unwatch = self._ws.journal.watch(news.put_nowait)
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        try:
            first = "".join(self.catch_up(person, request.headers.get("Last-Event-ID", "")))
            await response.prepare(request)
            await response.write(f"retry: {RETRY_MS}\n\n{first}".encode())
            while True:
                await response.write((await self._next(person, news)).encode())
        except ConnectionResetError:
            return response
        finally:
            unwatch()

    def catch_up(self, person: Person, last_event_id: str) -> Iterator[str]:
        """The first events for a browser: a snapshot, or the entries since the last one it saw."""
        entries = self._ws.journal.entries
        newest = entries[-1].id if entries else 0
        run, _, seen = last_event_id.partition("-")
        is_known = (
            run == self._run and seen.isdigit() and entries and entries[0].id <= int(seen) + 1
        )
        if not is_known:
            yield self._frame(newest, "snapshot", to_snapshot(person))
            return
        for entry in entries:
            if entry.id > int(seen):
                yield from self._frames(person, entry)

    async def _next(self, person: Person, news: asyncio.Queue[Entry]) -> str:
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                entry = await news.get()
        except TimeoutError:
            return ": still here\n\n"
        return "".join(self._frames(person, entry))

    def _frames(self, person: Person, entry: Entry) -> Iterator[str]:
        for kind, data in to_events(person, entry):
            yield self._frame(entry.id, kind, data)

    def _frame(self, entry_id: int, kind: str, data: Any) -> str:
        return f"id: {self._run}-{entry_id}\nevent: {kind}\ndata: {json.dumps(data)}\n\n"


def to_snapshot(person: Person) -> Json:
    """Everything a page shows to one person."""
    inspected = [entry for entry in person.ws.journal.entries if entry.kind in INSPECTED]
    entries = [masked(entry.to_json()) for entry in inspected[-INSPECTOR_REMEMBERS:]]
    return {**to_state(person), "entries": entries}


def to_events(person: Person, entry: Entry) -> Iterator[Event]:
    """The events for one person's page about a journal entry; none if they may not see it."""
    if entry.kind in INSPECTED:
        yield "entry", masked(entry.to_json())
    elif entry.kind in ("view", "home"):
        if entry.data["user"] == person.id:
            view = person.view if entry.kind == "view" else person.home
            yield entry.kind, to_view(person, view) if view else None
    elif entry.kind == "steps":
        yield "steps", entry.data["steps"]
    elif entry.kind == "user":
        yield "user", person.ws.user(entry.data["user"]).to_slack()
    elif entry.kind == "channel":
        yield from _channel(person, entry)
    elif entry.kind == "thread":
        if person.sees(person.ws.channels[entry.data["channel"]]):
            yield "thread", entry.data
    elif _is_theirs(person, entry):
        yield _message(person, entry)


def masked(value: Any) -> Any:
    """The value without secrets: tokens, connection tickets, the keys of response_urls."""
    if isinstance(value, dict):
        return {key: _MASK if key == "token" else masked(one) for key, one in value.items()}
    if isinstance(value, list):
        return [masked(one) for one in value]
    if isinstance(value, str):
        for secret in _SECRETS:
            value = secret.sub(rf"\1{_MASK}", value)
    return value


def _is_theirs(person: Person, entry: Entry) -> bool:
    alone = entry.data.get("user" if entry.kind in ("ephemeral", "streamed") else "shown_to")
    return person.sees(person.ws.channels[entry.data["channel"]]) and alone in (None, person.id)


def _channel(person: Person, entry: Entry) -> Iterator[Event]:
    channel = person.ws.channels[entry.data["channel"]]
    if person.sees(channel):
        yield "channel", to_channel(person, channel)
    elif entry.data.get("left") == person.id:
        yield "unseen", {"channel": channel.id}


def _message(person: Person, entry: Entry) -> Event:
    channel = person.ws.channels[entry.data["channel"]]
    if entry.kind == "message_deleted":
        stays = channel.messages.get(entry.data["ts"])
        if stays is None:
            return "gone", {"channel": channel.id, "ts": entry.data["ts"]}
        return "message", {"channel": channel.id, "message": shown(channel, stays)}
    is_ephemeral = entry.kind == "ephemeral" or bool(entry.data.get("shown_to"))
    note = {"is_ephemeral": True} if is_ephemeral else {}
    return "message", {"channel": channel.id, "message": entry.data["message"] | note}
