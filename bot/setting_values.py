"""What single settings are made of: what a value must look like, and what is said where it does not."""

import ipaddress
import re
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic_settings import NoDecode


class Role(StrEnum):
    """What a process does: answer Slack and write, settle what is written, or both."""

    FRONT = "front"
    WORKER = "worker"
    BOTH = "both"


EXPECTED_BOT = "expected a token that begins with xoxb- (api.slack.com/apps > your app > OAuth & Permissions)"
EXPECTED_APP = (
    "expected a token that begins with xapp- (api.slack.com/apps > your app > Basic Information > App-Level Tokens)"
)


def _prefixed(prefix: str, expected: str) -> AfterValidator:
    def check(token: SecretStr) -> SecretStr:
        if not token.get_secret_value().startswith(prefix):
            raise ValueError(expected)
        return token

    return AfterValidator(check)


def readable_on_the_way_to(url: str) -> str | None:
    """The host of an address to which anybody on the way can read along: `http://`, and not this machine."""
    host = urlsplit(url).hostname or ""
    return host if url.lower().startswith("http://") and not _is_this_machine(host) else None


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _slacks_address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("expected a URL that begins with https://")
    if readable_on_the_way_to(url):
        raise ValueError(
            "http:// would send the token readable; expected https://, "
            "or a stand-in on this machine (http://127.0.0.1, http://localhost)"
        )
    return url if url.endswith("/") else f"{url}/"


BotToken = Annotated[SecretStr, _prefixed("xoxb-", EXPECTED_BOT)]
AppToken = Annotated[SecretStr, _prefixed("xapp-", EXPECTED_APP)]


def _listed(text: object) -> object:
    if not isinstance(text, str):
        return text
    ids = frozenset(part for part in re.split(r"[\s,]+", text) if part)
    for each in ids:
        if not re.fullmatch("[CGD][A-Z0-9]{2,}", each):
            raise ValueError(
                f"{each!r} is no channel's id; expected ids such as C0123ABCD with commas between them "
                "(in Slack: the channel's name > About, at the bottom)"
            )
    return ids


def _named(text: object) -> object:
    if not isinstance(text, str):
        return text
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if "offline" in names:
        raise ValueError("'offline' is no model; leave it out")
    if longest := [name for name in names if re.search(r"\s", name)]:
        raise ValueError(f"{longest[0]!r} has a blank in it; expected names with commas between them")
    return names


ModelNames = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_named)]
ChannelIds = Annotated[frozenset[str], NoDecode, BeforeValidator(_listed)]
SlackAddress = Annotated[str, AfterValidator(_slacks_address)]
