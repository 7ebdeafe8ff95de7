"""People's actions over HTTP, for the page or another process: a thin layer over `Person`.

    GET  /sandbox/app                      address and tokens
    GET  /sandbox/people                   names of the people to act as
    GET  /sandbox/state?as=ann             what that person sees
    GET  /sandbox/stream?as=ann            the same, then every change, as server-sent events (stream.py)
    GET  /sandbox/journal?after=17&wait_s=20
    POST /sandbox/people/ann/post          {"channel": "help", "text": "..."}
    POST /sandbox/people/ann/run_step      {"callback_id": "score", "inputs": {...}}: a workflow reaches that step
    POST /sandbox/people/ann/open_assistant {"looking_at": "help"}, and then look_at {"channel": "random"}
    GET  /sandbox/executions               the steps that were run: running, completed or failed
    POST /sandbox/faults                   {"method": "chat.postMessage", "status": 500}
    DELETE /sandbox/faults                 remove those that still wait
    POST /sandbox/sockets/drop             also silence, warning, refresh_requested, link_disabled
    POST /sandbox/envelopes/<id>/redeliver

A message is named by `channel` and `ts`. A modal or home tab needs no name: it is the one in front.
`submit` answers with `errors` by block id if the client would not send the form.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from pocket_slack.deliveries import Delivery
from pocket_slack.errors import RefusedError, SandboxError, listed
from pocket_slack.executions import Execution
from pocket_slack.faults import Fault
from pocket_slack.inputs import elements_of
from pocket_slack.model import Json, Message, View
from pocket_slack.people import Person
from pocket_slack.posts import shown
from pocket_slack.sockets import GOODBYES, Sockets
from pocket_slack.state import to_state, to_view
from pocket_slack.workspace import SLACKBOT, Workspace

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """Handlers for one workspace and its sockets."""

    def __init__(self, workspace: Workspace, sockets: Sockets) -> None:
        self._ws = workspace
        self._sockets = sockets

    def routes(self) -> list[web.RouteDef]:
        """The routes of the handlers."""
        return [
            web.get("/sandbox/app", self.app),
            web.get("/sandbox/people", self.people),
            web.get("/sandbox/state", self.state),
            web.get("/sandbox/journal", self.journal),
            web.get("/sandbox/executions", self.executions),
            web.post("/sandbox/people/{name}/{verb}", self.act),
            web.post("/sandbox/faults", self.fault),
            web.delete("/sandbox/faults", self.clear_faults),
            web.post("/sandbox/sockets/{verb}", self.sockets),
            web.post("/sandbox/envelopes/{id}/redeliver", self.redeliver),
        ]

    async def app(self, request: web.Request) -> web.StreamResponse:
        """What an app needs to connect."""
        ws = self._ws
        api_url = f"{ws.grants.base_url}/api/"
        return web.json_response(
            {"api_url": api_url, "bot_token": ws.bot_token, "app_token": ws.app_token}
        )

    async def people(self, request: web.Request) -> web.StreamResponse:
        """The names of the people, without bots."""
        people = [
            user.name for user in self._ws.users.values() if not user.bot_id and user.id != SLACKBOT
        ]
        return web.json_response(people)

    async def state(self, request: web.Request) -> web.StreamResponse:
        """The workspace as one person sees it."""
        person = Person(self._ws, request.query.get("as", ""))
        return web.json_response(to_state(person))

    async def journal(self, request: web.Request) -> web.StreamResponse:
        """The entries after the one with the id `after`; with `wait_s`, waits that long for one, at
        most 60 s.
        """
        after = int(request.query.get("after", "0"))
        journal = self._ws.journal
        if wait_s := float(request.query.get("wait_s", "0")):
            try:
                await journal.until(
                    lambda: journal.entries and journal.entries[-1].id > after, min(wait_s, 60)
                )
            except TimeoutError:
                return web.json_response([])
        return web.json_response([entry.to_json() for entry in journal.entries if entry.id > after])

    async def executions(self, request: web.Request) -> web.StreamResponse:
        """All workflow steps that were run; a step that the app never ends stays `running`."""
        return web.json_response([each.to_json() for each in self._ws.executions.all.values()])

    async def act(self, request: web.Request) -> web.StreamResponse:
        """Acts as a person, and waits until the app has acknowledged that, if it must."""
        verb = VERBS.get(request.match_info["verb"])
        if verb is None:
            raise SandboxError(
                f"nobody can {request.match_info['verb']!r}; there are {listed(sorted(VERBS))}"
            )
        person = Person(self._ws, request.match_info["name"])
        try:
            result = verb(person, await _body(request))
        except RefusedError as error:
            # A refused form is an everyday event for people, not a mistake of the caller.
            return web.json_response({"errors": error.errors})
        if isinstance(result, Delivery):
            await self._ws.journal.until(lambda: result.is_over)
        return web.json_response(self._shown(result))

    async def fault(self, request: web.Request) -> web.StreamResponse:
        """Makes calls fail."""
        fault = await _body(request)
        if "held_until" in fault:
            raise SandboxError("held_until is for tests in the same process; here there is delay_s")
        self._ws.faults.add(fault.pop("method"), Fault(**fault))
        return web.json_response({})

    async def clear_faults(self, request: web.Request) -> web.StreamResponse:
        """Removes all faults that still wait."""
        self._ws.faults.clear()
        return web.json_response({})

    async def sockets(self, request: web.Request) -> web.StreamResponse:
        """Drops or silences the connections, or asks the app to reconnect."""
        verb = request.match_info["verb"]
        if verb == "drop":
            await self._sockets.drop()
        elif verb == "silence":
            self._sockets.silence()
        elif verb in GOODBYES:
            self._sockets.say_goodbye(verb)
        else:
            raise SandboxError(
                f"sockets cannot {verb!r}; there are {listed(['drop', 'silence', *GOODBYES])}"
            )
        return web.json_response({})

    async def redeliver(self, request: web.Request) -> web.StreamResponse:
        """Sends an envelope again."""
        delivery = self._ws.deliveries.find(request.match_info["id"])
        if delivery is None:
            raise SandboxError("no such envelope")
        self._ws.deliveries.redeliver(delivery)
        return web.json_response({})

    def _shown(self, result: Any) -> Json:
        match result:
            case Message():
                return shown(self._ws.channels[result.channel_id], result, with_metadata=True)
            case View():
                return to_view(Person(self._ws, result.user_id), result)
            case Execution():
                return result.to_json()
            case Delivery():
                names = ("envelope_id", "acked_ms", "response", "failure")
                return {name: getattr(result, name) for name in names}
        return {}


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers an invalid control request with `error` and the status 400."""
    if not request.path.startswith("/sandbox/"):
        return await handler(request)
    try:
        return await handler(request)
    except SandboxError as error:
        return web.json_response({"error": str(error)}, status=400)
    except (KeyError, TypeError, ValueError) as error:
        return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)


def _message(person: Person, body: Json) -> Message:
    channel = person.ws.channel(body["channel"])
    ephemerals = {message.ts: message for message in person.ephemerals(channel.id)}
    ts = body["ts"]
    return channel.messages[ts] if ts in channel.messages else ephemerals[ts]


def _fill(person: Person, body: Json) -> None:
    """Types `values` (by action id), or `state` (by block id, then action id), into the modal in
    front.

    `state` is what a page remembers; fields that the app has since removed from the modal are
    skipped.
    """
    there = {
        (block["block_id"], element["action_id"])
        for block, element in elements_of(person.view.body["blocks"] if person.view else [])
    }
    for block_id, values in body.get("state", {}).items():
        if kept := {name: value for name, value in values.items() if (block_id, name) in there}:
            person.fill(kept, block_id)
    if "values" in body:
        person.fill(body["values"])


def _submit(person: Person, body: Json) -> Delivery:
    _fill(person, body)
    return person.submit()


def _click(person: Person, body: Json) -> Delivery:
    surface: Message | View | None = person.home if body.get("in") == "home" else person.view
    if "ts" in body:
        surface = _message(person, body)
    if surface is None:
        raise SandboxError("there is no modal or home tab to click in")
    if "state" in body:
        _fill(person, body)
    return person.click(surface, body["action_id"], body.get("value"), body.get("block_id"))


VERBS: Mapping[str, Callable[[Person, Json], Any]] = {
    "post": lambda person, body: person.post(**body),
    "post_in_parts": lambda person, body: person.post_in_parts(**body),
    "share": lambda person, body: person.share(
        _message(person, body), body["to"], body.get("text", ""), body.get("thread_ts")
    ),
    "edit": lambda person, body: person.edit(_message(person, body), body["text"]),
    "delete": lambda person, body: person.delete(_message(person, body)),
    "react": lambda person, body: person.react(_message(person, body), body["name"]),
    "unreact": lambda person, body: person.unreact(_message(person, body), body["name"]),
    "stream": lambda person, body: person.stream(**body),
    "append": lambda person, body: person.append(_message(person, body), body["text"]),
    "stop": lambda person, body: person.stop(
        _message(person, body), body.get("text", ""), body.get("is_errored", False)
    ),
    "join": lambda person, body: person.join(body["channel"]),
    "leave": lambda person, body: person.leave(body["channel"]),
    "invite": lambda person, body: person.invite(body["channel"], body["user"]),
    "remove": lambda person, body: person.remove(body["channel"], body["user"]),
    "archive": lambda person, body: person.archive(body["channel"], body.get("is_archived", True)),
    "rename": lambda person, body: person.rename(body["channel"], body["name"]),
    "set_topic": lambda person, body: person.set_topic(body["channel"], body["topic"]),
    "command": lambda person, body: person.command(
        body["channel"], body["command"], body.get("text", "")
    ),
    "shortcut": lambda person, body: person.shortcut(
        body["callback_id"], _message(person, body) if "ts" in body else None
    ),
    "run_step": lambda person, body: person.run_step(body["callback_id"], body.get("inputs", {})),
    "click": _click,
    "fill": _fill,
    "submit": _submit,
    "close": lambda person, body: person.close(),
    "home": lambda person, body: person.open_home(),
    "open_messages": lambda person, body: person.open_messages(),
    "open_assistant": lambda person, body: person.open_assistant(**body),
    "look_at": lambda person, body: person.look_at(body["channel"]),
}


async def _body(request: web.Request) -> Json:
    try:
        body = await request.json()
    except json.JSONDecodeError as exc:
        raise SandboxError("the body is not JSON") from exc
    if not isinstance(body, dict):
        raise SandboxError("the body is not a JSON object")
    return body
