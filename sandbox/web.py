"""The HTTP side: Web API and response_urls, thin over the workspace."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from sandbox import methods, responses
from sandbox.errors import SlackError
from sandbox.faults import Fault
from sandbox.model import Json
from sandbox.workspace import Workspace


class Web:
    """Handlers for one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._ws = workspace

    def routes(self) -> list[web.RouteDef]:
        """Where the handlers stand."""
        response_urls = [web.post(f"/{kind}/{{token}}", self.respond) for kind in ("commands", "actions", "app")]
        return [web.route("*", "/api/{method}", self.call), *response_urls]

    async def call(self, request: web.Request) -> web.StreamResponse:
        """One call of the Web API."""
        name = request.match_info["method"]
        try:
            args = await _arguments(request)
        except SlackError as error:
            return web.json_response(error.body())
        token = _token(request, args)
        fault = self._ws.faults.take(name)
        if fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        answer = self._answer(name, token, args) if _is_harmless(fault) or fault.is_applied else web.Response()
        return _spoilt(request, fault, answer)

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """One post to a `response_url`."""
        fault = self._ws.faults.take("response_url")
        if fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        if _is_harmless(fault) or fault.is_applied:
            answer = self._respond(request.path.removeprefix("/"), await request.text())
        else:
            answer = web.Response()
        return _spoilt(request, fault, answer)

    def _answer(self, name: str, token: str | None, args: Mapping[str, Any]) -> web.Response:
        status, headers = 200, {}
        try:
            body = methods.call(self._ws, name, token, args)
        except SlackError as error:
            body = error.body()
            if error.retry_after_s is not None:
                status, headers = 429, {"Retry-After": str(error.retry_after_s)}
        scopes = methods.scopes_of(self._ws, token)
        if scopes:
            headers["x-oauth-scopes"] = ",".join(sorted(scopes))
        self._ws.journal.record("call", method=name, args=_without_token(args), status=status, answer=body)
        return web.json_response(body, status=status, headers=headers)

    def _respond(self, key: str, text: str) -> web.Response:
        status, error = 200, None
        try:
            body = json.loads(text)
            grant = self._ws.grants.find_response_url(key)
            responses.to_response_url(self._ws, grant, body)
            grant.uses_left -= 1
        except json.JSONDecodeError:
            status, body, error = 400, text[:200], "invalid_payload"
        except SlackError as slack_error:
            error = slack_error.code
            status = 404 if error in ("used_url", "expired_url", "no_service") else 400
        answer = {"ok": False, "error": error} if error else {"ok": True}
        self._ws.journal.record("response_url", status=status, body=body, answer=answer)
        return web.json_response(answer, status=status) if error else web.Response(text="ok")


async def _arguments(request: web.Request) -> dict[str, Any]:
    args: dict[str, Any] = dict(request.query)
    if request.method != "POST":
        return args
    if request.content_type == "application/json":
        try:
            body = await request.json()
        except json.JSONDecodeError as exc:
            raise SlackError("invalid_json") from exc
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        return args | body
    return args | {key: value for key, value in (await request.post()).items() if isinstance(value, str)}


def _token(request: web.Request, args: Mapping[str, Any]) -> str | None:
    header = request.headers.get("Authorization", "")
    return header.removeprefix("Bearer ") if header.startswith("Bearer ") else args.get("token")


def _without_token(args: Mapping[str, Any]) -> Json:
    return {key: value for key, value in args.items() if key != "token"}


def _is_harmless(fault: Fault) -> bool:
    return not (fault.error or fault.status or fault.retry_after_s is not None or fault.drop)


def _spoilt(request: web.Request, fault: Fault, answer: web.Response) -> web.Response:
    """What comes of an answer under a fault."""
    if fault.drop and request.transport:
        request.transport.abort()
    elif fault.retry_after_s is not None:
        error = SlackError("ratelimited")
        return web.json_response(error.body(), status=429, headers={"Retry-After": str(fault.retry_after_s)})
    elif fault.error:
        return web.json_response(SlackError(fault.error).body(), status=fault.status or 200)
    elif fault.status:
        return web.Response(status=fault.status, text="")
    return answer
