"""The types of single settings: what a value must look like, and the error if it does not."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource


class Role(StrEnum):
    """What a process does: answer Slack and log cases (front), settle them (worker), or both."""

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
    """The host of a URL whose traffic can be read on the way (`http://`, not this machine); None for any other URL."""
    host = urlsplit(url).hostname or ""
    return host if url.lower().startswith("http://") and not _is_this_machine(host) else None


def to_whom(value: object) -> object:
    """Who sees the score of a person's reply."""
    known = {"private": "private", "true": True, "false": False}
    if str(value).lower() not in known:
        raise ValueError(f"{str(value)[:40]!r} is not known; expected private, true or false")
    return known[str(value).lower()]


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
            "http:// would send the token unencrypted; expected https://, "
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
                f"{each!r} is not a channel id; expected ids such as C0123ABCD, separated by commas "
                "(in Slack: the channel's name > About, at the bottom)"
            )
    return ids


def _named(text: object) -> object:
    if not isinstance(text, str):
        return text
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if "offline" in names:
        raise ValueError("'offline' is not a model; leave it out")
    if longest := [name for name in names if re.search(r"\s", name)]:
        raise ValueError(f"{longest[0]!r} contains a space; expected names separated by commas")
    return names


ModelNames = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_named)]
ChannelIds = Annotated[frozenset[str], NoDecode, BeforeValidator(_listed)]
SlackAddress = Annotated[str, AfterValidator(_slacks_address)]


def _fernet_keys(text: object) -> object:
    if not isinstance(text, str):
        return text
    keys = tuple(part for part in re.split(r"[\s,]+", text) if part)
    for key in keys:
        if not re.fullmatch(r"[\w-]{43}=", key):
            raise ValueError("expected keys of 44 characters, the newest first, separated by commas; " + MAKE_KEY)
    return keys


MAKE_KEY = "python -c 'from cryptography.fernet import Fernet as F; print(F.generate_key().decode())' makes one"
TokenKeys = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_fernet_keys)]


SECRETS = frozenset(
    {
        *("slack_bot_token", "slack_app_token", "slack_signing_secret", "slack_client_secret", "token_keys"),
        *("openai_api_key", "database_url"),
    }
)
"""The settings whose value may come from a file, named by `NAME_FILE`."""


@dataclass(frozen=True)
class UnreadFile:
    """Why a file gave no secret; takes the secret's place, so that it is reported with all other problems."""

    problem: str


class SecretFiles(PydanticBaseSettingsSource):
    """Secrets from the files that `NAME_FILE` names, as Docker and Kubernetes mount them."""

    def __init__(self, settings_cls: type[BaseSettings], *named_in: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self.found = {
            name: value
            for source in reversed(named_in)
            if isinstance(source, EnvSettingsSource)
            for name, value in source.env_vars.items()
        }

    @property
    def paths(self) -> Sequence[Path]:
        named = (self.found.get(f"{name}_file") for name in sorted(SECRETS))
        return [Path(path) for path in named if path]

    def __call__(self) -> dict[str, Any]:
        """The secrets by setting; an `UnreadFile` for each file that gives none."""
        fields = self.settings_cls.model_fields.items()
        values = {name: self.get_field_value(field, name)[0] for name, field in fields if name in SECRETS}
        return {name: value for name, value in values.items() if value is not None}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """What pydantic-settings asks of a source: the value, its name, and that it is not JSON."""
        path = self.found.get(f"{field_name}_file")
        if path and self.found.get(field_name):
            name = field_name.upper()
            return UnreadFile(f"is set, and so is {name}_FILE; leave one of them out"), field_name, False
        return _read_secret(Path(path), f"{field_name.upper()}_FILE") if path else None, field_name, False


_MOST_OF_A_SECRET = 64 * 1024


def _read_secret(file: Path, named_by: str) -> str | UnreadFile:
    """The content of the file. A problem never names the path, because it may be the secret itself by mistake."""
    where = f"the file that {named_by} names"
    try:
        if file.exists() and not file.is_file():  # a device or a pipe may never end
            return UnreadFile(f"{where} is not a regular file; expected a file that holds only the secret")
        with file.open(encoding="utf-8-sig") as opened:
            secret = opened.read(_MOST_OF_A_SECRET + 1).rstrip("\r\n")
    except OSError as exc:
        return UnreadFile(f"{where} cannot be read ({exc.strerror}); expected a file that the app may read")
    except UnicodeDecodeError:
        return UnreadFile(f"{where} is not text in UTF-8; it must hold only the secret")
    if len(secret) > _MOST_OF_A_SECRET:
        return UnreadFile(f"{where} holds more than 64 KiB; it must hold only the secret")
    if len(secret.splitlines()) > 1:
        return UnreadFile(f"{where} has more than one line; it must hold only the secret")
    return secret or UnreadFile(f"{where} is empty; write the secret into it")
