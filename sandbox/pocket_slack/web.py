"""The Web API and response_urls over HTTP: a thin layer over the workspace."""

import asyncio
import json
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from pocket_slack import installing, methods, responses
from pocket_slack.errors import SlackError
from pocket_slack.faults import Answer
from pocket_slack.model import Json
from pocket_slack.workspace import Workspace

RESPONSE_URL_KINDS = ("commands", "actions", "app")
GONE = ("used_url", "expired_url", "no_service")


class Web:
    """Handlers for one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._ws = workspace

    def routes(self) -> list[web.RouteDef]:
        """The routes of the handlers."""
        response_urls = [
            web.post(f"/{kind}/{{token}}", self.respond) for kind in RESPONSE_URL_KINDS
        ]
        upload = web.post("/upload/v1/{ticket}", self.upload)
        oauth = web.get("/oauth/v2/authorize", self.authorize)
        return [web.route("*", "/api/{method}", self.call), upload, oauth, *response_urls]

    async def authorize(self, request: web.Request) -> web.StreamResponse:
        """The page where a person approves the app; they approve at once, for the workspace in
        `team`.
        """
        try:
            return web.Response(
                status=302, headers={"Location": installing.approve(self._ws, request.query)}
            )
        except SlackError as error:
            return web.Response(status=400, text=error.code)

    async def call(self, request: web.Request) -> web.StreamResponse:
        """Answers one call of the Web API."""
        name = request.match_info["method"]
        try:
            args = await _arguments(request)
        except SlackError as error:
            refusal = Answer(200, error.body())
            self._ws.journal.record("call", method=name, args={}, **_recorded(refusal))
            return _sent(request, refusal)
        token = _token(request, args)
        args.pop("token", None)
        ws = installing.workspace_of(self._ws, token)
        given = args if name != "oauth.v2.access" else args | _client(request)
        answer = await self._under_faults(name, lambda: _answer(ws, name, token, given))
        place = {"team": ws.team_id} if len(ws.app.workspaces) > 1 else {}
        self._ws.journal.record("call", method=name, args=args, **place, **_recorded(answer))
        return _sent(request, answer)

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Takes the content of a file, as it is or as a form:
        https://docs.slack.dev/messaging/working-with-files
        """
        ticket = request.match_info["ticket"]
        files = [each for ws in self._ws.app.workspaces for each in ws.files.values()]
        waiting = (each for each in files if each.ticket == ticket and each.content is None)
        file = next(waiting, None)
        if request.content_type == "multipart/form-data":
            parts = [
                each.file.read()
                for each in (await request.post()).values()
                if isinstance(each, web.FileField)
            ]
            content = parts[0] if parts else b""
        else:
            content = await request.read()
        is_whole = file is not None and not file.is_deleted and len(content) == file.length
        if file and is_whole:
            file.content = content
        status = 200 if is_whole else 400
        args = {"file": file.id if file else None, "length": len(content)}
        self._ws.journal.record("call", method="upload", args=args, status=status, answer=None)
        return web.Response(status=status, text=f"OK - {len(content)}" if is_whole else "")

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Answers one post to a `response_url`."""
        key = request.path.removeprefix("/")
        text = await request.text()
        answer = await self._under_faults("response_url", lambda: self._respond(key, text))
        self._ws.journal.record("response_url", body=text, **_recorded(answer))
        return _sent(request, answer)

    async def _under_faults(self, name: str, run: Callable[[], Answer]) -> Answer | None:
        fault = self._ws.faults.take(name)
        if fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        if fault.held_until:
            await fault.held_until.wait()
        answer = None if fault.stops_the_call else run()
        if fault.changes and answer and answer.body:
            answer = replace(answer, body=fault.changes(answer.body))
        return fault.answer() if fault.spoils_the_answer else answer

    def _respond(self, key: str, text: str) -> Answer:
        try:
            body = _object(text)
            ws = next(
                (each for each in self._ws.app.workspaces if each.grants.has_response_url(key)),
                self._ws,
            )
            grant = ws.grants.find_response_url(key)
            responses.to_response_url(ws, grant, body)
            grant.uses_left -= 1
        except SlackError as error:
            return Answer(404 if error.code in GONE else 400, error.body())
        return Answer(200, {"ok": True})


def _answer(ws: Workspace, name: str, token: str | None, args: Mapping[str, Any]) -> Answer:
    scopes = methods.scopes_of(ws, token)
    headers = {"x-oauth-scopes": ",".join(sorted(scopes))} if scopes else {}
    try:
        return Answer(200, methods.call(ws, name, token, args), headers)
    except SlackError as error:
        if error.retry_after_s is None:
            return Answer(200, error.body(), headers)
        return Answer(429, error.body(), headers | {"Retry-After": str(error.retry_after_s)})


def _client(request: web.Request) -> dict[str, str]:
    """The app's id and secret from the header, as the SDK sends them."""
    kind, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if kind != "Basic":
        return {}
    client_id, _, secret = b64decode(encoded).decode().partition(":")
    return {"client_id": client_id, "client_secret": secret}


async def _arguments(request: web.Request) -> dict[str, Any]:
    args: dict[str, Any] = dict(request.query)
    if request.method != "POST":
        return args
    if request.content_type == "application/json":
        try:
            # Slack's SDK for Python announces JSON and sends an empty body if a method is called
            # without arguments.
            body = json.loads(await request.text() or "{}")
        except ValueError as exc:
            raise SlackError("invalid_json") from exc
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        # In JSON, Slack reads a token from the header only:
        # https://docs.slack.dev/apis/web-api#authentication
        return args | {key: value for key, value in body.items() if key != "token"}
    return args | {
        key: value for key, value in (await request.post()).items() if isinstance(value, str)
    }


def _object(text: str) -> Json:
    try:
        body = json.loads(text)
    except json.JSONDecodeError as exc:
        raise SlackError("invalid_payload") from exc
    if not isinstance(body, dict):
        raise SlackError("invalid_payload")
    return body


def _token(request: web.Request, args: Mapping[str, Any]) -> str | None:
    header = request.headers.get("Authorization", "")
    return header.removeprefix("Bearer ") if header.startswith("Bearer ") else args.get("token")


def _recorded(answer: Answer | None) -> dict[str, Any]:
    return (
        {"status": answer.status, "answer": answer.body}
        if answer
        else {"status": None, "answer": None}
    )


def _sent(request: web.Request, answer: Answer | None) -> web.StreamResponse:
    if answer is None:
        if request.transport:
            request.transport.abort()
        return web.Response()
    if answer.body is None:
        return web.Response(status=answer.status, headers=answer.headers)
    return web.json_response(answer.body, status=answer.status, headers=answer.headers)
