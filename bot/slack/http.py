"""HTTP mode: Slack posts its payloads to us."""

import asyncio
import json
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

import structlog
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncBoltRequest
from slack_sdk.signature import Clock, SignatureVerifier

from bot.http_server import Answer, HttpServer
from bot.slack.incoming import MOST, Door, Traffic

EVENTS = "/slack/events"
HTTP_SETTINGS = "HTTP_HOST", "HTTP_PORT"
LARGEST_BODY = 2**20
"""In bytes; it is also aiohttp's default. Slack documents no limit, and Bolt for JavaScript takes 4 MB. A shortcut on
the longest message (40,000 Chinese characters, both as text and as a block, as JSON in a form) takes 640 kB."""
FRESH_S = 300
"""How old a signature may be; source: https://docs.slack.dev/authentication/verifying-requests-from-slack"""

logger = structlog.get_logger(__name__)

_STAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")


class HttpFront(HttpServer):
    """Listens for Slack's requests while its context is open.

    A request without a fresh signature is refused before its body is read, and so is a body larger
    than `LARGEST_BODY`. A body must be there after `longest_read_s`; Slack itself gives up after
    3 s. Limits on the number and duration of connections are left to the proxy that terminates TLS.
    """

    longest_read_s = 3.0

    def __init__(
        self,
        door: Door,
        signing_secret: SecretStr,
        host: str,
        port: int,
        traffic: Traffic,
        pages: Answer | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(HTTP_SETTINGS, host, port, self._take)
        self._pages = pages
        self._door = door
        self._traffic = traffic
        self._clock = clock or Clock()
        self._verifier = SignatureVerifier(signing_secret.get_secret_value(), self._clock)

    async def _take(self, request: web.BaseRequest) -> web.Response:
        if request.path != EVENTS:
            if self._pages:
                return await self._pages(request)
            return web.Response(
                status=404, text=f"only {EVENTS} is served here; metrics are on METRICS_PORT\n"
            )
        if not self._may_be_slacks(request.headers):
            return _not_slacks()
        if (request.content_length or 0) > LARGEST_BODY:
            raise web.HTTPRequestEntityTooLarge(LARGEST_BODY)
        try:
            async with asyncio.timeout(self.longest_read_s):
                # aiohttp itself refuses one that grows larger.
                body = (await request.read()).decode()
        except TimeoutError:
            return web.Response(status=408)
        except (web.RequestPayloadError, ConnectionError, UnicodeDecodeError):
            return web.Response(status=400, text="the body cannot be read\n")
        if not self._verifier.is_valid_request(body, request.headers):
            # A fresh signature by another secret: hardly a stranger's, who would not know the form.
            logger.warning("signature_refused", do="compare SLACK_SIGNING_SECRET with the app's")
            return _not_slacks()
        return await self._dispatch(body)

    async def _dispatch(self, body: str) -> web.Response:
        bolt_request = _to_request(body)
        if bolt_request is None or not bolt_request.body:
            return web.Response(status=400, text="expected a payload from Slack\n")
        if self._traffic.is_full:
            # Not accepted: Slack shows the person an error, and sends an event again.
            logger.warning("payload_refused", reason="too many at once", most=MOST)
            return web.Response(status=503, headers={"Retry-After": "1"})
        with self._traffic.payload(bolt_request.body):
            if app := await self._door(bolt_request.body):
                return await to_aiohttp_response(await app.async_dispatch(bolt_request))
            return web.Response()

    def _may_be_slacks(self, headers: Mapping[str, str]) -> bool:
        """Whether there is a well-formed, fresh signature; verifying it takes the body as well."""
        stamp = headers.get("X-Slack-Request-Timestamp", "")
        signature = headers.get("X-Slack-Signature", "")
        if not _STAMP.fullmatch(stamp) or not _SIGNATURE.fullmatch(signature):
            return False
        return abs(self._clock.now() - int(stamp)) <= FRESH_S


def _not_slacks() -> web.Response:
    return web.json_response({"error": "invalid request"}, status=401)


def _to_request(body: str) -> AsyncBoltRequest | None:
    """The request for Bolt, which itself would read a command with "payload" in it as empty; None
    if it is none.
    """
    try:
        if not body.startswith("{"):
            fields = dict(parse_qsl(body, keep_blank_values=True))
            body = fields.get("payload") or json.dumps(fields)
        # In Socket Mode, Bolt takes the parsed body as it is.
        return AsyncBoltRequest(body=json.loads(body), mode="socket_mode")
    except (ValueError, AttributeError, TypeError):  # not JSON, or unexpected types in it
        return None
