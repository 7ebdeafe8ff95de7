"""The one seam to the network: a client for a server, and one request through it, of a bounded answer."""

import re
import zlib
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge.errors import BadResponseError, SetupError

if TYPE_CHECKING:
    import ssl

    import httpx2
    import openai

_OPENAI_URL = "https://api.openai.com/v1"

StandIn = Callable[["httpx2.Request"], Awaitable["httpx2.Response | None"]]
stand_in: ContextVar[StandIn | None] = ContextVar("stand_in", default=None)
"""What answers chat completions of this task in the server's place; the server is asked where it answers None."""


def make_client(
    api_key: str | None, base_url: str | None, kind: "type[openai.AsyncOpenAI] | None" = None
) -> "openai.AsyncOpenAI":
    """A client for a server; OpenAI's own without an address. `kind` is its class, where the caller has one.

    Raises:
        SetupError: Neither a key nor an address, or an address that is none.
    """
    import openai

    if not api_key and not base_url:
        raise SetupError(
            "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; "
            "the model 'offline' works without either."
        )
    # Without an address the client would read OPENAI_BASE_URL itself, and take an empty one for an address.
    url = base_url or _OPENAI_URL
    if not _is_address(url):
        raise SetupError("OPENAI_BASE_URL is not an address; it begins with http:// or https://, and a host follows.")
    if not re.fullmatch("[!-~]*", api_key or ""):
        raise _odd_key()
    # aiohttp takes half the CPU time per request, but no address that holds a user and a password.
    has_password = "@" in urlsplit(url).netloc
    return (kind or openai.AsyncOpenAI)(
        api_key=api_key or "none",  # servers of one's own ask for no key, but the client insists on one
        base_url=url,
        http_client=None if has_password else openai.DefaultAioHttpClient(verify=_certificates()),
    )


@cache
def _certificates() -> "ssl.SSLContext":
    import httpx2

    return httpx2.create_ssl_context()


async def ask(client: "openai.AsyncOpenAI", body: dict[str, Any], most_bytes: int) -> Any:
    """The JSON that the server answers to a chat completion's `body`, asked once; it may be any JSON.

    Raises:
        openai.APIError: The server cannot be reached, redirects, or complains, be it with status 200.
        BadResponseError: What it answers is no JSON, or longer than `most_bytes`.
        SetupError: The client is closed, or has a key that is none.
    """
    from judge.model.client import limited
    from judge.model.failures import hidden_error, not_a_completion

    answer = await _post(limited(client, most_bytes), body)
    try:
        content = answer.json()
    except (ValueError, RecursionError) as exc:
        raise not_a_completion(str(client.base_url)) from exc
    if error := hidden_error(answer, content):
        raise error
    return content


async def _post(client: "openai.AsyncOpenAI", body: dict[str, Any]) -> "httpx2.Response":
    """The answer as it came.

    The client's own way for requests without types: with the types of `chat.completions.create` a request takes twice
    the processor time, and fails on answers that they do not expect.
    """
    import aiohttp
    import httpx2
    import openai

    try:
        return await client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            body=body,
            # Retries are the caller's to bound; an administrator's key is for other requests.
            options={"max_retries": 0, "security": {"bearer_auth": True}},
        )
    except UnicodeEncodeError as exc:
        raise _odd_key() from exc
    except RuntimeError as exc:  # a closed client, or one of another event loop
        raise SetupError(
            "The client that was given is closed, or was used in another event loop; make a new one for each."
        ) from exc
    except aiohttp.ClientError as exc:  # what is no HTTP, which `openai` lets through as it is
        raise openai.APIConnectionError(request=httpx2.Request("POST", client.base_url)) from exc


def _is_address(url: str) -> bool:
    import httpx2

    try:
        address = httpx2.URL(url)
        host = (urlsplit(url).hostname or "").encode("idna")  # fails on a part that is empty or too long
    except (httpx2.InvalidURL, ValueError):
        return False
    is_http = address.scheme in ("http", "https") and host != b""
    return is_http and (address.port or 0) < 2**16 and re.search(r"\s", url) is None


def _odd_key() -> SetupError:
    return SetupError("The key holds a blank, a line break or a letter that no key has; check OPENAI_API_KEY.")


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

    from judge.model.failures import not_a_completion

    async def send(self: "openai.AsyncOpenAI", request: httpx2.Request, **options: Any) -> httpx2.Response:
        request.headers["Accept-Encoding"] = _ENCODING
        answer_instead = stand_in.get()
        response = await answer_instead(request) if answer_instead else None
        if response is None:
            response = await kind._send_request(self, request, **options | {"stream": True, "follow_redirects": False})
        body = await _read(response, most_bytes)
        if len(body) > most_bytes:
            raise _too_large(str(self.base_url), most_bytes)
        headers = [(name, value) for name, value in response.headers.raw if name.lower() != b"content-encoding"]
        answer = httpx2.Response(response.status_code, headers=headers, content=body, request=request)
        # And not what a server names, which may be any codec of Python's: punycode takes minutes for 1 MB.
        answer.encoding = "utf-8"
        if answer.is_success and body.lstrip().startswith(b"<"):  # a page to log in at, which is a text to `openai`
            raise not_a_completion(str(self.base_url))
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
    from judge.model.failures import server_name

    return BadResponseError(
        f"The server at {server_name(base_url)} answers with more than {most_bytes / 1e6:g} MB, "
        "which no verdict takes; check OPENAI_BASE_URL (it usually ends in /v1)."
    )
