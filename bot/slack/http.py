"""HTTP mode: Slack posts its payloads to us."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import parse_qsl

from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_sdk.signature import Clock, SignatureVerifier

from bot.http_server import PATIENCE_S, Port
from bot.slack.socket import Takes, nothing

EVENTS = "/slack/events"
LARGEST_BODY = 2**20
"""In bytes. Slack documents no limit, and Bolt for JavaScript takes 4 MB. A shortcut on the longest message, 40,000
Chinese characters as text and as block, JSON in a form, comes to 640 kB."""
FRESH_S = 300
"""Source: https://docs.slack.dev/authentication/verifying-requests-from-slack"""

_STAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")


class HttpFront:
    """Listens while entered, for Slack alone.

    Whatever a stranger sends costs little: who names no fresh signature is answered before the body is read, and a body
    is read up to `LARGEST_BODY`.
    """

    def __init__(
        self,
        app: AsyncApp,
        signing_secret: SecretStr,
        host: str,
        port: int,
        most_connections: int | None = None,
        patience_s: float = PATIENCE_S,
        clock: Clock | None = None,
        takes: Takes = nothing,
    ) -> None:
        self._app = app
        self._takes = takes
        self._clock = clock or Clock()
        self._verifier = SignatureVerifier(signing_secret.get_secret_value(), self._clock)
        self.port = Port(("HTTP_HOST", "HTTP_PORT"), host, port, self._answer, most_connections, patience_s)

    async def __aenter__(self) -> Self:
        """Listens.

        Raises:
            SettingsError: The port is taken, or the host is none of this machine's.
        """
        await self.port.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.port.__aexit__()

    async def is_connected(self) -> bool:
        return await self.port.is_answered()

    async def watch(self) -> None:
        """Returns never: there is no connection that could be lost."""
        await asyncio.Event().wait()

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        if request.path != EVENTS:
            return web.Response(status=404, text=f"there is {EVENTS} alone; health and metrics are on METRICS_PORT\n")
        if request.method != "POST":
            return web.Response(status=405, headers={"Allow": "POST"})
        if not self._may_be_slacks(request.headers):
            return _not_slacks()
        try:
            body = await _read(request)
        except (web.RequestPayloadError, ConnectionError) as exc:  # the second has nobody left to read it
            exc.with_traceback(None)  # which aiohttp keeps, in a circle, and so what was read until the next collection
            return web.Response(status=400, text="the body cannot be read\n")
        if body is None:
            return web.Response(status=413, text=f"expected at most {LARGEST_BODY} bytes\n")
        if not self._is_slacks(body, request.headers):
            return _not_slacks()
        self.port.trust(request)
        bolt_request = _to_request(body.decode())
        if bolt_request is None:
            return web.Response(status=400, text="expected a payload of Slack's\n")
        if await self._takes(bolt_request.body):
            return web.Response()
        return await to_aiohttp_response(await self._app.async_dispatch(bolt_request))

    def _may_be_slacks(self, headers: Mapping[str, str]) -> bool:
        """Whether there is a signature, of the right form and fresh; whether it is Slack's is in the body as well."""
        stamp, signature = headers.get("X-Slack-Request-Timestamp", ""), headers.get("X-Slack-Signature", "")
        if not _STAMP.fullmatch(stamp) or not _SIGNATURE.fullmatch(signature):
            return False
        return abs(self._clock.now() - int(stamp)) <= FRESH_S

    def _is_slacks(self, body: bytes, headers: Mapping[str, str]) -> bool:
        try:
            return self._verifier.is_valid_request(body, headers)
        except UnicodeDecodeError:
            return False


def _not_slacks() -> web.Response:
    return web.json_response({"error": "invalid request"}, status=401)


def _to_request(body: str) -> AsyncBoltRequest | None:
    """What Bolt is given: JSON, that in a form's field `payload`, or a form's fields; None where it is no payload.

    Bolt is not left to read the body: a command with the word "payload" in its text would come out empty.
    """
    try:
        payload: Any = (
            json.loads(body) if body.startswith(("{", "[")) else dict(parse_qsl(body, keep_blank_values=True))
        )
        if isinstance(payload, dict) and isinstance(payload.get("payload"), str):
            payload = json.loads(payload["payload"])
        # As if it came by a socket: Bolt then takes what was read.
        return AsyncBoltRequest(body=payload, mode="socket_mode") if payload and isinstance(payload, dict) else None
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError):  # no JSON, or parts of another kind
        return None


async def _read(request: web.BaseRequest) -> bytes | None:
    """The body; None if it is too large: then nothing of it is read, or not its end where its length is not given."""
    if (request.content_length or 0) > LARGEST_BODY:
        return None
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > LARGEST_BODY:
            return None
    return bytes(body)
