"""The only access to the network: the client for a server, and one request through it with a
limited answer.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge.errors import BadResponseError, SetupError
from judge.scoring.model.addresses import CHAT, OPENAI_URL

if TYPE_CHECKING:
    import ssl

    import httpx2
    import openai
    from openai import AsyncOpenAI


PATIENCE_S = 900.0
"""The longest time for an answer; OpenAI advises 15 minutes at the tier "flex"."""
NO_MODEL = "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"


def make_client(api_key: str | None, base_url: str | None) -> "openai.AsyncOpenAI":
    """A client for a server, by default OpenAI's; raises as `check_client`."""
    import httpx2
    import openai

    check_client(api_key, base_url)
    # Without an address the client would read OPENAI_BASE_URL itself, and treat an empty one as an
    # address.
    url = base_url or OPENAI_URL
    # aiohttp takes half the CPU time per request, but accepts no address with a user and a
    # password.
    has_password = "@" in urlsplit(url).netloc
    return openai.AsyncOpenAI(
        api_key=api_key or "none",  # a private server may need no key, but the client requires one
        base_url=url,
        timeout=httpx2.Timeout(PATIENCE_S, connect=5.0),
        http_client=None if has_password else openai.DefaultAioHttpClient(verify=_certificates()),
    )


def check_client(api_key: str | None, base_url: str | None) -> None:
    """Raises SetupError without a valid key or address; imports no package, which would take a
    second and 16 MiB.
    """
    if not api_key and not base_url:
        raise SetupError(f"{NO_MODEL}; the model 'offline' works without either.")
    if not _is_address(base_url or OPENAI_URL):
        raise SetupError("OPENAI_BASE_URL is not a URL; expected http:// or https:// and a host.")
    if not re.fullmatch("[!-~]*", api_key or ""):
        raise _odd_key()


@cache
def _certificates() -> "ssl.SSLContext":
    import httpx2

    try:
        return httpx2.create_ssl_context()
    except OSError as exc:
        file = os.environ.get("SSL_CERT_FILE")
        raise SetupError(
            f"SSL_CERT_FILE={file!r}: the certificates cannot be read ({exc.strerror})."
        ) from exc


async def ask(
    client: "openai.AsyncOpenAI",
    body: dict[str, Any],
    most_bytes: int,
    path: str = CHAT,
    patience_s: float | None = None,
) -> Any:
    """The server's JSON answer to one request to `path` with this `body`; it may be any JSON.

    `patience_s` is how long the answer may take; None is as long as the client waits. Raises
    `openai.APIError` if the server cannot be reached, redirects, or reports an error, even with
    status 200; BadResponseError if the answer is not JSON, or longer than `most_bytes`; and
    SetupError if the client is closed, or its key is not valid.
    """
    import aiohttp
    import httpx2
    import openai

    from judge.scoring.model.failures import hidden_error, not_a_completion

    # The caller limits retries; an administrator's key is for other requests.
    options: Any = {"max_retries": 0, "security": {"bearer_auth": True}}
    if patience_s is not None:
        options["timeout"] = httpx2.Timeout(patience_s, connect=5.0)
    try:
        # The method for untyped requests: with the types of `chat.completions.create`, a request
        # takes twice the processor time, and fails on unexpected answers.
        answer = await limited(client, most_bytes).post(
            path, cast_to=httpx2.Response, body=body, options=options
        )
    except UnicodeEncodeError as exc:
        raise _odd_key() from exc
    except RuntimeError as exc:  # the client is closed, or belongs to another event loop
        raise SetupError(
            "The client that was given is closed, or was used in another event loop; make "
            "a new one for each."
        ) from exc
    except aiohttp.ClientError as exc:  # for an answer that is not HTTP; `openai` does not wrap it
        raise openai.APIConnectionError(request=httpx2.Request("POST", client.base_url)) from exc
    try:
        content = answer.json()
    except (ValueError, RecursionError) as exc:
        raise not_a_completion(str(client.base_url)) from exc
    if error := hidden_error(answer, content):
        raise error
    return content


def _is_address(url: str) -> bool:
    try:
        address = urlsplit(url)
        _ = address.port  # fails on one that is no number, or too large
        # So does this on a part that is empty or too long.
        has_host = (address.hostname or "").encode("idna") != b""
    except ValueError:
        return False
    return address.scheme in ("http", "https") and has_host and re.search(r"\s", url) is None


def _odd_key() -> SetupError:
    return SetupError(
        "The key has a space, a line break or a character that keys never have; check "
        "OPENAI_API_KEY."
    )


def limited(client: "openai.AsyncOpenAI", most_bytes: int) -> "openai.AsyncOpenAI":
    """A twin of `client` that follows no redirect, and raises BadResponseError for an answer of
    more than `most_bytes`.

    Answers are asked for uncompressed, and a compressed one stays so: the bound is on its bytes.
    The two share connections and keys; the client itself is unchanged.
    """
    kind: Any = type(client)
    twin: openai.AsyncOpenAI = object.__new__(_limited(kind, most_bytes))
    twin.__dict__ = client.__dict__
    return twin


@cache
def _limited(kind: Any, most_bytes: int) -> type["openai.AsyncOpenAI"]:
    """A subclass of `kind` with a guard on the method through which the `openai` package sends
    everything, and with a memory for addresses.

    At that point an answer is still unread, even that of an error. An exception raised there passes
    through the package unchanged, so it is neither retried nor taken for a lost connection.
    """
    import httpx2

    from judge.scoring.model.failures import not_a_completion, server_name

    async def send(
        self: "openai.AsyncOpenAI", request: httpx2.Request, **options: Any
    ) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await kind._send_request(
            self, request, **options | {"stream": True, "follow_redirects": False}
        )
        body = await _read(response, most_bytes)
        if len(body) > most_bytes:
            raise BadResponseError(
                f"The server at {server_name(str(self.base_url))} answers with more than "
                f"{most_bytes / 1e6:g} MB, more than any verdict needs; check OPENAI_BASE_URL (it "
                "usually ends in /v1)."
            )
        answer = _to_answer(request, response, body)
        if answer.is_success and body.lstrip().startswith(
            b"<"
        ):  # a login page, which `openai` takes as text
            raise not_a_completion(str(self.base_url))
        return answer

    # Putting an address together takes a twelfth of a request's processor time.
    addresses: dict[tuple[httpx2.URL, str], httpx2.URL] = {}

    def address(self: "openai.AsyncOpenAI", path: str) -> httpx2.URL:
        key = (self.base_url, path)
        if key not in addresses:
            addresses[key] = kind._prepare_url(self, path)
        return addresses[key]

    return type(kind.__name__, (kind,), {"_send_request": send, "_prepare_url": address})


def _to_answer(
    request: "httpx2.Request", response: "httpx2.Response", body: bytes
) -> "httpx2.Response":
    import httpx2

    response.headers.pop("content-encoding", None)
    answer = httpx2.Response(
        response.status_code, headers=response.headers, content=body, request=request
    )
    # Not the encoding that the server names, which may be any Python codec: punycode takes minutes
    # for 1 MB.
    answer.encoding = "utf-8"
    return answer


async def _read(response: "httpx2.Response", most_bytes: int) -> bytes:
    """The body; if it is too long, a beginning longer than `most_bytes`."""
    if response.is_stream_consumed:  # by a hook in the caller's client
        return response.content
    body = bytearray()
    stream: Any = response.stream  # read raw, because the response itself would decompress it
    async with aclosing(response):
        async for piece in stream:
            body += piece
            if len(body) > most_bytes:
                break
    return bytes(body)


class Connection:
    """Returns the client for requests: the caller's, or one of its own, made by `make` at the first
    call.
    """

    def __init__(
        self, client: "AsyncOpenAI | None", make: "Callable[[], AsyncOpenAI] | None" = None
    ) -> None:
        env = os.environ.get
        self._client = client
        self._make = make or (lambda: make_client(env("OPENAI_API_KEY"), env("OPENAI_BASE_URL")))
        self._own_client: AsyncGenerator[AsyncOpenAI, None] | None = None

    async def __call__(self) -> "AsyncOpenAI":
        if self._client is None:
            await asyncio.to_thread(
                import_module, "openai"
            )  # takes a second, in which other tasks go on
        if self._client is None or (self._own_client is not None and self._client.is_closed()):
            self._own_client = _open(self._make)
            self._client = await anext(self._own_client)
        return self._client

    async def aclose(self) -> None:
        if self._own_client is not None:
            await self._own_client.aclose()


async def _open(make: "Callable[[], AsyncOpenAI]") -> "AsyncGenerator[AsyncOpenAI, None]":
    """Yields a client, and closes it at the latest with the event loop, which ends all generators.

    So a judge that is not closed does no harm, and one that is used in two `asyncio.run` calls
    connects again.
    """
    async with make() as client:
        yield client
