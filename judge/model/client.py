"""The one seam to the network: a client for a server, and one request through it."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge.errors import SetupError

if TYPE_CHECKING:
    import ssl

    import httpx2
    import openai

_OPENAI_URL = "https://api.openai.com/v1"


def make_client(api_key: str | None, base_url: str | None) -> "openai.AsyncOpenAI":
    """A client for a server; OpenAI's own without an address.

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
    return openai.AsyncOpenAI(
        api_key=api_key or "none",  # servers of one's own ask for no key, but the client insists on one
        base_url=url,
        http_client=None if has_password else openai.DefaultAioHttpClient(verify=_certificates()),
    )


@cache
def _certificates() -> "ssl.SSLContext":
    """Whose servers are trusted. Read once: it takes 30 ms, as long as all else of a client."""
    import httpx2

    return httpx2.create_ssl_context()


async def ask(client: "openai.AsyncOpenAI", body: dict[str, Any], most_bytes: int) -> Any:
    """The JSON that the server answers to a chat completion's `body`, asked once; it may be any JSON.

    Raises:
        openai.APIError: The server cannot be reached, redirects, or complains, be it with status 200.
        BadResponseError: What it answers is no JSON, or longer than `most_bytes`.
        SetupError: The client is closed, or has a key that is none.
    """
    from judge.model.failures import hidden_error, not_a_completion
    from judge.model.limits import limited

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
