"""Settings from the environment and `.env`, read once, all problems reported together."""

import ipaddress
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from bot.domain.case import Visibility
from bot.errors import SettingsError
from bot.secret_files import SecretFiles, Unread
from bot.slack.manifest import manifest_path
from bot.weeks.week import parse_day, parse_time, parse_zone
from judge import DEFAULT_MODEL

SLACK_API_URL = "https://slack.com/api/"
OFFLINE = "offline"


class Role(StrEnum):
    """What a process does: answer Slack and write, settle what is written, or both."""

    FRONT = "front"
    WORKER = "worker"
    BOTH = "both"


_EXPECTED_BOT = "expected a token that begins with xoxb- (api.slack.com/apps > your app > OAuth & Permissions)"
_EXPECTED_APP = (
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


BotToken = Annotated[SecretStr, _prefixed("xoxb-", _EXPECTED_BOT)]
AppToken = Annotated[SecretStr, _prefixed("xapp-", _EXPECTED_APP)]


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


ChannelIds = Annotated[frozenset[str], NoDecode, BeforeValidator(_listed)]


class LogSettings(BaseSettings):
    """Where the log is, what it keeps, and for how long; enough for what never talks to Slack or a model."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8-sig", env_ignore_empty=True, extra="ignore", frozen=True
    )

    database_url: str = "sqlite+aiosqlite:///slack-judge.db"
    store_text: Literal["full", "none"] = "full"
    retention_days: int | None = Field(default=None, ge=1, le=36_500)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given goes before secrets' files, the environment and `.env`."""
        files = SecretFiles(settings_cls, env_settings, dotenv_settings)
        return init_settings, files, env_settings, dotenv_settings

    @field_validator("*", mode="before")
    @classmethod
    def _is_read(cls, value: object) -> object:
        if isinstance(value, Unread):
            raise ValueError(value.problem)
        return value


class Settings(LogSettings):
    """Everything that can be set; the README's table explains each."""

    hears_slack: ClassVar[bool] = True
    asks_model: ClassVar[bool] = True

    serve_http: bool = False
    slack_bot_token: BotToken
    slack_app_token: AppToken | None = Field(default=None, validate_default=True)
    slack_signing_secret: SecretStr | None = Field(default=None, validate_default=True)
    http_host: str = "127.0.0.1"
    http_port: int = Field(default=3000, ge=0, le=65535)
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    slack_api_url: Annotated[str, AfterValidator(_slacks_address)] = SLACK_API_URL
    openai_base_url: str | None = None
    judge_model: str = DEFAULT_MODEL
    openai_api_key: SecretStr | None = Field(default=None, validate_default=True)
    judge_rubric: str = "additive-5"
    judge_samples: int | None = Field(default=None, ge=1, le=16)
    judge_concurrency: int = Field(default=8, ge=1, le=256)
    judge_timeout_s: float = Field(default=60, gt=0, le=3600)
    max_cases_per_user_per_hour: int = Field(default=60, ge=0, le=1_000_000)
    max_cases_per_day: int = Field(default=2000, ge=0, le=1_000_000)
    max_tokens_per_day: int = Field(default=0, ge=0)
    channels_allowed: ChannelIds = frozenset()
    channels_denied: ChannelIds = frozenset()
    score_people: bool = True
    verdict_visibility: Visibility = Visibility.THREAD
    unconfirmed_posts: Literal["tell", "repost"] = "tell"
    digest_day: Annotated[str, AfterValidator(parse_day)] = "monday"
    digest_time: Annotated[str, AfterValidator(lambda text: f"{parse_time(text):%H:%M}")] = "09:00"
    digest_tz: Annotated[str, AfterValidator(lambda text: parse_zone(text).key)] = "UTC"
    digest_by: Literal["members", "admins"] = "members"
    log_format: Literal["console", "json"] = "console"

    @field_validator("slack_app_token")
    @classmethod
    def _has_a_socket(cls, token: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if cls.hears_slack and not token and not info.data.get("serve_http"):
            raise ValueError(f"missing; {_EXPECTED_APP}")
        return token

    @field_validator("slack_signing_secret")
    @classmethod
    def _has_a_secret(cls, secret: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        is_blank = not (secret and secret.get_secret_value().strip())
        if cls.hears_slack and is_blank and info.data.get("serve_http"):
            raise ValueError("missing; HTTP mode needs it (api.slack.com/apps > your app > Basic Information)")
        return secret

    @field_validator("openai_api_key")
    @classmethod
    def _has_a_model(cls, key: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        has_model = key or info.data.get("openai_base_url") or info.data.get("judge_model") == OFFLINE
        if cls.asks_model and not has_model:
            raise ValueError(
                "missing; set it, or OPENAI_BASE_URL for a server of your own, "
                f"or JUDGE_MODEL={OFFLINE} to try the app without a model"
            )
        return key


class _FrontSettings(Settings):
    """Of a process that asks no model."""

    asks_model = False


class _WorkerSettings(Settings):
    """Of a process that Slack does not reach."""

    hears_slack = False


_OF_ROLE = {Role.BOTH: Settings, Role.FRONT: _FrontSettings, Role.WORKER: _WorkerSettings}


def load_log_settings() -> LogSettings:
    """The settings of the log alone, from the environment before `.env`.

    Raises:
        SettingsError: One of them is wrong.
    """
    try:
        return LogSettings()
    except ValidationError as exc:
        raise SettingsError(_explain(exc)) from exc


def files_with_secrets(env_file: Path = Path(".env")) -> Sequence[Path]:
    """The files that settings are read from: `env_file`, where there is one, and each that a `NAME_FILE` names."""
    named_in = EnvSettingsSource(LogSettings), DotEnvSettingsSource(LogSettings, env_file=env_file)
    return [*([env_file] if env_file.exists() else []), *SecretFiles(LogSettings, *named_in).paths]


def load_settings(env_file: Path | None = Path(".env"), role: Role = Role.BOTH, **given: object) -> Settings:
    """The settings of a process, with `given` before the environment before `env_file`.

    Raises:
        SettingsError: Any setting is missing or wrong; the message lists all of them.
    """
    try:
        return _OF_ROLE[role](_env_file=env_file, **given)  # type: ignore[arg-type]
    except ValidationError as exc:
        raise SettingsError(_explain(exc)) from exc


def _explain(exc: ValidationError) -> str:
    lines = [_explain_one(dict(error)) for error in exc.errors(include_url=False, include_input=False)]
    return "the settings are not complete (environment or .env):\n" + "\n".join(f"  {line}" for line in lines)


def _explain_one(error: dict[str, object]) -> str:
    location = error["loc"]
    name = "_".join(str(part) for part in location).upper() if isinstance(location, tuple) else ""
    if error["type"] == "missing":
        return f"{name}: missing; {_EXPECTED_BOT}; a new app is made from the manifest {manifest_path()}"
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{name}: {message}" if name else message
