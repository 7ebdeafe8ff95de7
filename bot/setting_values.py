"""The types of single settings: what a value must look like, and the error if it does not."""

import ipaddress
import re
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic_settings import EnvSettingsSource, NoDecode, PydanticBaseSettingsSource

from bot.errors import SettingsError

EXPECTED_BOT = (
    "expected a token that begins with xoxb- (api.slack.com/apps > your app > OAuth & Permissions)"
)
EXPECTED_APP = (
    "expected a token that begins with xapp- (api.slack.com/apps > your app > Basic "
    "Information > App-Level Tokens)"
)


def _prefixed(prefix: str, expected: str) -> AfterValidator:
    def check(token: SecretStr) -> SecretStr:
        if not token.get_secret_value().startswith(prefix):
            raise ValueError(expected)
        return token

    return AfterValidator(check)


def readable_on_the_way_to(url: str) -> str | None:
    """The host of a URL whose traffic can be read on the way (`http://`, not this machine); None
    for any other URL.
    """
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


def _listed(pattern: str, expected: str) -> BeforeValidator:
    """Splits a text at commas and spaces into its parts, each once; all must match, or `expected`
    is the error.
    """

    def parse(text: object) -> object:
        if not isinstance(text, str):
            return text
        parts = tuple(dict.fromkeys(part for part in re.split(r"[\s,]+", text) if part))
        for part in parts:
            if not re.fullmatch(pattern, part):
                raise ValueError(expected.format(part))
        return parts

    return BeforeValidator(parse)


SlackAddress = Annotated[str, AfterValidator(_slacks_address)]
ModelNames = Annotated[
    tuple[str, ...], NoDecode, _listed("(?!offline$).+", "{!r} is not a model; leave it out")
]
ChannelIds = Annotated[
    frozenset[str],
    NoDecode,
    _listed(
        "[CGD][A-Z0-9]{2,}",
        "{!r} is not a channel id; expected ids such as C0123ABCD, separated by commas "
        "(in Slack: the channel's name > About, at the bottom)",
    ),
]
CompanyIds = Annotated[
    frozenset[str],
    NoDecode,
    _listed("[TE][A-Z0-9]{2,}", "{!r} is not an id such as T0123ABCD or E0123ABCD"),
]
MAKE_KEY = (
    "python -c 'from cryptography.fernet import Fernet as F;print(F.generate_key().decode())' "
    "makes one"
)
TokenKeys = Annotated[
    tuple[SecretStr, ...],
    NoDecode,
    _listed(
        r"[\w-]{43}=",
        f"expected keys of 44 characters, the newest first, separated by commas; {MAKE_KEY}",
    ),
]


SECRETS = (
    "slack_bot_token",
    "slack_app_token",
    "slack_signing_secret",
    "slack_client_secret",
    "token_keys",
    "openai_api_key",
    "database_url",
)
"""The settings whose value may come from a file, named by `NAME_FILE`."""


Variables = Mapping[str, str | None]


def variables_of(*sources: PydanticBaseSettingsSource) -> Variables:
    """The variables of the environment and `.env`, by their names in small letters; the first
    source wins.
    """
    return ChainMap(
        *(dict(source.env_vars) for source in sources if isinstance(source, EnvSettingsSource))
    )


def secret_files(variables: Variables) -> Mapping[str, Path]:
    """The files that `NAME_FILE` names, as Docker and Kubernetes mount them, by setting."""
    return {name: Path(path) for name in sorted(SECRETS) if (path := variables.get(f"{name}_file"))}


def read_secrets(variables: Variables) -> dict[str, Any]:
    """The secrets in those files; raises SettingsError if one cannot be read."""
    secrets = {}
    for name, file in secret_files(variables).items():
        where = f"{name.upper()}_FILE"
        if variables.get(name):
            raise SettingsError(f"{where}: {name.upper()} is set, too; leave one of them out")
        secrets[name] = _read_secret(file, where)
    return secrets


def _read_secret(file: Path, where: str) -> str:
    """The content of the file.

    A problem never names the path, because it may be the secret itself by mistake.
    """
    try:
        secret = file.read_text(encoding="utf-8-sig").rstrip("\r\n")
    except OSError as exc:
        raise SettingsError(f"{where}: the file cannot be read ({exc.strerror})") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{where}: the file is not text in UTF-8") from None
    if len(secret.splitlines()) != 1:
        raise SettingsError(f"{where}: the file must hold one line, the secret alone")
    return secret
