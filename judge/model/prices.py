"""What an answer cost, by the price list of the `genai-prices` package as installed; it is never fetched."""

import ipaddress
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from concurrent.futures import Future

    from genai_prices.data_snapshot import DataSnapshot

_COUNTS = ("total_tokens", "prompt_tokens", "completion_tokens")


@cache
def has_price_list(base_url: str) -> bool:
    """Whether a server at that address can have public prices: not this machine, nor one without a public name."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".local", ".internal", ".localhost"))


@cache
def price_list() -> "Future[DataSnapshot]":
    """The list, which takes a fifth of a second to read; a thread of its own does so from the first call on."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max_workers=1).submit(_read_list)


class Cost(NamedTuple):
    """What a request cost in US dollars, and the prompt's part of it."""

    total_usd: float
    prompt_usd: float


def cost_of(base_url: str, answer: dict[str, Any]) -> Cost | None:
    """The price of a chat completion, cached tokens at their own price; None where it is not known.

    Provider and model must both be on the list: a model of the same name on another server costs something else.
    Waits for the list where it is not read yet.

    Args:
        base_url: Where the server was asked; it tells the provider.
        answer: The completion as JSON; its `model` and `usage` are read.
    """
    if answer.get("service_tier") not in (None, "default") or _has_more_fees(answer):
        return None  # flex and priority have prices of their own
    if not _is_listed(base_url):
        return None
    prices = price_list().result()
    for flavor in ("chat", "default"):
        try:
            extracted = prices.extract_usage(answer, provider_api_url=base_url, api_flavor=flavor)
            price = extracted.calc_price()
            return Cost(float(price.total_price), float(price.input_price))
        except (LookupError, ValueError):
            continue
    return None


def _read_list() -> "DataSnapshot":
    from genai_prices import data_snapshot

    return data_snapshot.get_snapshot()


@cache
def _is_listed(base_url: str) -> bool:
    return any(_is_whole_host(provider.api_pattern, base_url) for provider in price_list().result().providers)


def _is_whole_host(pattern: str, url: str) -> bool:
    """Whether the pattern covers the host's whole name; api.openai.com.example.org is another one."""
    match = re.match(pattern, url)
    return match is not None and (match[0].endswith(("/", ".")) or url[match.end() :][:1] in ("", "/", ":"))


def _has_more_fees(answer: dict[str, Any]) -> bool:
    """Searches are charged by the piece; tokens that only the total counts are charged, but nobody knows as what."""
    usage = answer.get("usage")
    counts = [usage.get(name) for name in _COUNTS] if isinstance(usage, dict) else []
    numbers = [count for count in counts if isinstance(count, int)]
    is_short = len(numbers) == len(_COUNTS) and numbers[0] > numbers[1] + numbers[2]
    return is_short or "search" in str(answer.get("model"))
