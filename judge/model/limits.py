"""What a server is believed: no redirect, and no answer beyond a limit, neither as it comes in nor unpacked."""

import zlib
from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any

from judge.errors import BadResponseError
from judge.model.addresses import server_name

if TYPE_CHECKING:
    import httpx2
    import openai

# The one encoding that is asked for and unpacked; whatever else a server makes of its answer is taken as it is.
_ENCODING = "gzip"
_GZIP_ALONE = 16 + zlib.MAX_WBITS


def limited(client: "openai.AsyncOpenAI", most_bytes: int) -> "openai.AsyncOpenAI":
    """A twin of `client` that follows no redirect, and raises `BadResponseError` for an answer that is too long.

    The two share all they have, connections and keys alike; the client itself, which may be a caller's, stays as it is.

    Args:
        client: Any client, on any transport.
        most_bytes: Counted on the wire and again unpacked; reading ends with the byte that is one too many.
    """
    kind: Any = type(client)
    twin: openai.AsyncOpenAI = object.__new__(_limited(kind, most_bytes))
    twin.__dict__ = client.__dict__
    return twin


@cache
def _limited(kind: Any, most_bytes: int) -> type["openai.AsyncOpenAI"]:
    """`kind`, with a guard on the method that the `openai` package sends everything by.

    There an answer is still unread, an error's as well. What is raised there passes the package as it is, and so is
    neither retried nor taken for a lost connection.
    """
    import httpx2

    async def send(self: "openai.AsyncOpenAI", request: httpx2.Request, **options: Any) -> httpx2.Response:
        request.headers["Accept-Encoding"] = _ENCODING
        response = await kind._send_request(self, request, **options | {"stream": True, "follow_redirects": False})
        body = await _read(response, most_bytes)
        if len(body) > most_bytes:
            raise _too_large(str(self.base_url), most_bytes)
        headers = [(name, value) for name, value in response.headers.raw if name.lower() != b"content-encoding"]
        answer = httpx2.Response(response.status_code, headers=headers, content=body, request=request)
        # And not what a server names, which may be any codec of Python's: punycode takes minutes for 1 MB.
        answer.encoding = "utf-8"
        return answer

    return type(kind.__name__, (kind,), {"_send_request": send})


async def _read(response: "httpx2.Response", most_bytes: int) -> bytes:
    """The body, unpacked; of one that is too long some more than `most_bytes`, and of a redirect's nothing."""
    import httpx2

    if response.is_stream_consumed:  # by a hook of the caller's, in their client
        return response.content
    packed = bytearray()
    stream: Any = response.stream  # read as it is, since the response itself would unpack it
    async with aclosing(response):
        if response.is_redirect:
            return b""
        async for piece in stream:
            packed += piece
            if len(packed) > most_bytes:
                return bytes(packed)
    if response.headers.get("content-encoding", "").strip().lower() != _ENCODING:
        return bytes(packed)
    try:
        return zlib.decompressobj(_GZIP_ALONE).decompress(packed, most_bytes + 1)
    except zlib.error as exc:
        raise httpx2.DecodingError("no gzip", request=response.request) from exc


def _too_large(base_url: str, most_bytes: int) -> BadResponseError:
    return BadResponseError(
        f"The server at {server_name(base_url)} answers with more than {most_bytes / 1e6:g} MB, "
        "which no verdict takes; check OPENAI_BASE_URL (it usually ends in /v1)."
    )
