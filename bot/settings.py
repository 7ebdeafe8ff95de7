"""Settings from the environment and `.env`, read once, all problems reported together."""

import logging
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from io import StringIO
from math import inf
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from bot import setting_values
from bot.domain import week
from bot.domain.case import Visibility
from bot.errors import SettingsError
from bot.slack.manifest import manifest_path
from judge import DEFAULT_MODEL
from judge.scoring.model.addresses import OPENAI_URL

_ENV_FILE = Path(".env")
logging.getLogger("dotenv.main").setLevel(
    logging.ERROR
)  # what it warns of is said among the other problems
_NEARLY = (
    0.9  # by difflib; RETENTION_DAY and RETENTION_DAYS have 0.96, HTTP_PROXY and HTTP_PORT 0.74
)
SLACK_API_URL = "https://slack.com/api/"
OFFLINE = "offline"


class StoreSettings(BaseSettings):
    """Where the database is, what it keeps, and for how long; enough for commands that use neither
    Slack nor a model.

    `python -m tools.settings` makes the page of all settings from the text below each.
    """

    model_config = SettingsConfigDict(
        env_file=_ENV_FILE,
        env_file_encoding="utf-8-sig",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    database_url: str = "sqlite+aiosqlite:///slack-judge.db"
    """where the database is kept; migrated on start. Use `postgresql://...` for several processes"""
    store_text: Literal["full", "none"] = "full"
    """`none` drops texts and justifications once a verdict is delivered; scores, links and hashes stay"""
    text_days: int = Field(90, ge=0, le=36_500)
    """texts and justifications are dropped this many days after the request, scores stay; `0`: they are kept as long as
    their case"""
    retention_days: int | None = Field(None, ge=1, le=36_500)
    """cases are deleted this many days after they were requested; without it they are kept"""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The sources, the first one wins: arguments, files of secrets, the environment, `.env`."""
        secrets = setting_values.read_secrets(
            setting_values.variables_of(env_settings, dotenv_settings)
        )
        return (
            init_settings,
            InitSettingsSource(settings_cls, secrets),
            env_settings,
            dotenv_settings,
        )


Day = Annotated[str, AfterValidator(week.parse_day)]
Time = Annotated[str, AfterValidator(lambda text: f"{week.parse_time(text):%H:%M}")]
Zone = Annotated[str, AfterValidator(lambda text: week.parse_zone(text).key)]


class ReaderSettings(StoreSettings):
    """Adds when weeks end."""

    digest_day: Day = "monday"
    """day of the digest, unless a channel chose another"""
    digest_time: Time = "09:00"
    """time of the digest"""
    digest_tz: Zone = "UTC"
    """zone of that time and the weeks, such as `Europe/Berlin`"""


class Settings(ReaderSettings):
    serves: ClassVar[bool] = True

    serve_http: bool = False
    """`true`, or `judge-bot serve --http`: Slack sends requests to `HTTP_PORT`, instead of Socket Mode"""
    slack_client_id: str | None = None
    """many workspaces install the app, instead of one with `SLACK_BOT_TOKEN`"""
    slack_client_secret: SecretStr | None = None
    """its secret"""
    token_keys: setting_values.TokenKeys = ()
    """encrypt their tokens; the newest first, separated by commas"""
    workspaces_allowed: setting_values.CompanyIds = frozenset()
    """ids of the only workspaces (`T0123ABCD`) and organisations (`E0123ABCD`) that may install the app, separated by
    commas; required with `SLACK_CLIENT_ID`"""
    slack_bot_token: setting_values.BotToken | None = Field(None, validate_default=True)
    """bot token, `xoxb-`; required without `SLACK_CLIENT_ID`"""
    slack_app_token: setting_values.AppToken | None = Field(None, validate_default=True)
    """app-level token, `xapp-`; required for Socket Mode, which is the default"""
    slack_signing_secret: SecretStr | None = Field(None, validate_default=True)
    """verifies that requests come from Slack; required with `SERVE_HTTP`"""
    http_host: str = "127.0.0.1"
    """address on which HTTP mode listens"""
    http_port: int = Field(3000, ge=0, le=65535)
    """HTTP mode's port; `0` takes a free one"""
    metrics_host: str = "127.0.0.1"
    """address of `/healthz`, `/readyz` and `/metrics`"""
    metrics_port: int | None = Field(None, ge=0, le=65535)
    """their port; without it they are off"""
    slack_api_url: setting_values.SlackAddress = SLACK_API_URL
    """change it for GovSlack (`slack-gov.com/api/` with `https://`) or a stand-in on this machine"""

    openai_base_url: str | None = None
    """any OpenAI-compatible server instead of OpenAI's: vLLM, Ollama, llama.cpp, LiteLLM, ..."""
    judge_model: str = DEFAULT_MODEL
    """the judge; several names separated by commas form a panel; `offline` is the word counter"""
    judge_models: setting_values.ModelNames = ()
    """further models on the same server, separated by commas, that a channel may choose with `/judge rubric use`"""
    openai_api_key: SecretStr | None = Field(None, validate_default=True)
    """key of the model's server; required unless `OPENAI_BASE_URL` is set or `JUDGE_MODEL` is `offline`"""
    judge_rubric: str = "additive-5"
    """a name from `judge rubrics`, or such a file"""
    judge_samples: int | None = Field(None, ge=1, le=16)
    """ratings per model, at most; the score is their median. Default: 3, or 1 each in a panel"""
    judge_ask: Literal["text", "distribution", "decision"] = "text"
    """`distribution`: from log probabilities, `decision`: from a decision model, both without a reason"""
    judge_effort: str | None = None
    """how much the model thinks, such as `low`"""
    judge_answer_tokens: int | None = Field(None, ge=1)
    """longest answer. Default: 1024, or 8192 if the model thinks"""
    judge_options: SecretStr | None = None
    """JSON object, more fields for each request"""
    judge_tier: str | None = None
    """`flex`: half the price, within 15 minutes"""
    judge_concurrency: int = Field(8, ge=1, le=256)
    """cases judged at the same time"""
    judge_timeout_s: float = Field(60, gt=0, le=3600)
    """longest time for one answer, in seconds"""

    max_cases_per_user_per_hour: int = Field(60, ge=0, le=1_000_000)
    """cases one person may request within an hour; `0`: no limit"""
    max_cases_per_day: int = Field(2000, ge=0, le=1_000_000)
    """cases the workspace may request within 24 hours; watches and digests get at most half each; `0`: no limit"""
    max_cases_per_day_in_all: int = Field(0, ge=0)
    """cases that all workspaces together may request within 24 hours; `0`: no limit"""
    channels_allowed: setting_values.ChannelIds = frozenset()
    """ids of the only channels where anything is scored, separated by commas; without it, all"""
    channels_denied: setting_values.ChannelIds = frozenset()
    """ids of channels where nothing is scored, separated by commas"""
    companies_allowed: setting_values.CompanyIds = frozenset()
    """ids of other companies (`T0123ABCD`, or an organisation's `E0123ABCD`) whose people are served in shared
    channels, and whose replies are scored, separated by commas"""
    score_people: Annotated[bool | Literal["private"], BeforeValidator(setting_values.to_whom)] = (
        "private"
    )
    """`private`: of a person's reply, only who asked sees the verdict; `true`: everybody does; `false`: only replies of
    bots are scored. A person's reply is in no figure"""
    verdict_visibility: Visibility = Visibility.THREAD
    """`me`: only the person who asked sees a verdict, unless they choose otherwise"""
    watch_by: Literal["looking", "events"] = "looking"
    """how watched replies are found: `looking` reads their channels every 5 minutes; `events` needs `judge-bot manifest
    --with message-events`"""
    watch_tier: Literal["flex"] | None = None
    """`flex`: watched replies at half the price, each within 15 minutes"""
    watch_by_admins: bool = False
    """`true`: only admins of the workspace may change watches"""
    digest_by: Literal["members", "admins"] = "members"
    """who may change a channel's digest, watches, rubrics and reaction: `members`, or only `admins` of the workspace"""
    log_format: Literal["console", "json"] = "console"
    """`json`: one object per line. Tokens and texts are never logged"""

    @field_validator("slack_bot_token")
    @classmethod
    def _has_workspaces(cls, token: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        names = ("slack_client_id", "slack_client_secret", "token_keys", "workspaces_allowed")
        parts = [info.data.get(name) for name in names]
        if token or all(parts):
            return token
        many = ""
        if any(parts):
            many = f"; for many workspaces, all of {', '.join(names).upper()}"
        made = f"a new app is made from the manifest {manifest_path()}"
        raise ValueError(f"missing; {setting_values.EXPECTED_BOT}; {made}{many}")

    @field_validator("slack_app_token")
    @classmethod
    def _has_a_socket(cls, token: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if cls.serves and not token and not info.data.get("serve_http"):
            raise ValueError(f"missing; {setting_values.EXPECTED_APP}")
        return token

    @field_validator("slack_signing_secret")
    @classmethod
    def _has_a_secret(cls, secret: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        is_blank = not (secret and secret.get_secret_value().strip())
        if cls.serves and is_blank and info.data.get("serve_http"):
            raise ValueError(
                "missing; HTTP mode needs it (api.slack.com/apps > your app > Basic Information)"
            )
        return secret

    @field_validator("openai_api_key")
    @classmethod
    def _has_a_model(cls, key: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        is_offline = info.data.get("judge_model") == OFFLINE and not info.data.get("judge_models")
        has_model = key or info.data.get("openai_base_url") or is_offline
        if cls.serves and not has_model:
            raise ValueError(
                "missing; set it, or OPENAI_BASE_URL for a server of your own, "
                f"or JUDGE_MODEL={OFFLINE} to try the app without a model"
            )
        return key

    @property
    def is_for_many(self) -> bool:
        """Whether workspaces install the app by OAuth; a bot token in the settings is that of the
        only one.
        """
        return self.slack_bot_token is None

    @property
    def token_key_texts(self) -> Sequence[str]:
        return [key.get_secret_value() for key in self.token_keys]

    def in_force(self) -> Mapping[str, str]:
        """What a typing error in a setting would change unseen, in a few words each."""
        days = self.retention_days
        ends = f"deleted after {days:,} days" if days else "kept until somebody deletes them"
        texts = (
            f"dropped after {self.text_days:,} days" if 0 < self.text_days < (days or inf) else ends
        )
        host = urlsplit(self.openai_base_url or OPENAI_URL).hostname or ""
        private = ", and people (only the person who asked sees the score)"
        people = {True: " and people", False: " alone", "private": private}
        only = ", ".join(sorted(self.channels_allowed)) or "all channels"
        but = ", ".join(sorted(self.channels_denied))
        return {
            "texts": "dropped with the verdict" if self.store_text == "none" else texts,
            "scores": ends,
            "sent to": "no model"
            if self.judge_model == OFFLINE and not self.judge_models
            else host,
            "scored in": f"{only} but {but}" if but else only,
            "replies of": f"bots{people[self.score_people]}",
        }


class PreviewSettings(Settings):
    """The settings of a command that calls Slack, but receives nothing from it and asks no model."""

    serves = False


S = TypeVar("S", bound=StoreSettings)


def load(kind: type[S], env_file: Path | None = _ENV_FILE, **given: object) -> S:
    """The settings of that kind; `given` overrides the environment, which overrides `env_file`.

    Raises SettingsError, which lists all that is missing or wrong, or says why the file cannot be
    read.
    """
    try:
        wrong = _wrong_lines(env_file)
        found = kind(_env_file=env_file, **given)  # type: ignore[arg-type]
    except ValidationError as exc:
        wrong += [_explain_one(each) for each in exc.errors(include_url=False, include_input=False)]
    except OSError as exc:
        raise SettingsError(f"{env_file} cannot be read ({exc.strerror})") from exc
    except UnicodeDecodeError as exc:
        raise SettingsError(f"{env_file} is not UTF-8; save the file as UTF-8") from exc
    if wrong:
        raise SettingsError(
            "\n  ".join(["the settings are incomplete or wrong (environment or .env):", *wrong])
        )
    return found


def _wrong_lines(env_file: Path | None) -> list[str]:
    """A problem for each line that is no `NAME=value`, and each name that is nearly a setting's;
    others are fine.
    """
    if env_file is None or not env_file.exists():
        return []
    known = {name.upper() for name in Settings.model_fields}
    known |= {f"{name}_FILE" for name in known}
    problems = []
    bindings = list(parse_stream(StringIO(env_file.read_text(encoding="utf-8-sig"))))
    for binding in bindings:
        if binding.error:
            # The parser counts blank lines before it to the line.
            number = binding.original.line
            problems.append(
                f"{env_file}: from line {number} on, a line is not NAME=value, or a quotation mark "
                "is not closed"
            )
    names = {binding.key.upper() for binding in bindings if binding.key}
    for name in sorted(names - known):
        close = get_close_matches(name, known, n=1, cutoff=_NEARLY)
        if close:
            problems.append(f"{name}: did you mean {close[0]}?")
    return problems


def files_with_secrets() -> Sequence[Path]:
    """The files that settings are read from: `.env`, if it exists, and each file that a `NAME_FILE`
    names.
    """
    variables = setting_values.variables_of(
        EnvSettingsSource(StoreSettings), DotEnvSettingsSource(StoreSettings)
    )
    files = [_ENV_FILE, *setting_values.secret_files(variables).values()]
    return files if _ENV_FILE.is_file() else files[1:]


def load_settings(env_file: Path | None = _ENV_FILE, **given: object) -> Settings:
    """All settings of the bot; raises the same errors as `load`."""
    return load(Settings, env_file, **given)


def read_variables(prefix: str) -> None:
    """Adds the variables of `.env` that begin so to the environment, for a package that reads
    nothing else.
    """
    for name, value in dotenv_values(_ENV_FILE, encoding="utf-8-sig").items():
        if name.startswith(prefix) and value:
            os.environ[name] = os.environ.get(name) or value


def _explain_one(error: ErrorDetails) -> str:
    name = "_".join(map(str, error["loc"])).upper()
    message = error["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    if error["type"] in {"int_parsing", "int_from_float"}:
        message = "expected a whole number"
    return f"{name}: {message}" if name else message
