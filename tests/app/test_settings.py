from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.settings import PreviewSettings, Settings, StoreSettings, load, load_settings
from judge import DEFAULT_MODEL
from tests.tables import each

SETTINGS = [name.upper() for name in Settings.model_fields]
BOT, APP, KEY = COMPLETE = (
    "SLACK_BOT_TOKEN=xoxb-1",
    "SLACK_APP_TOKEN=xapp-1",
    "OPENAI_API_KEY=sk-1",
)
SECRETS = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "SLACK_SIGNING_SECRET": "8f742231",
    "OPENAI_API_KEY": "sk-1",
    "DATABASE_URL": "postgresql://judge:p%40ss@db/judge",
}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)


def env(folder: Path, *lines: str) -> Path:
    file = folder / ".env"
    file.write_text("\n".join(lines))
    return file


def in_files(folder: Path, **contents: str) -> list[str]:
    """Lines that name a file for each secret; the files get these contents."""
    for name, content in contents.items():
        (folder / name.lower()).write_text(content)
    return [f"{name}_FILE={folder / name.lower()}" for name in contents]


def refusal(read: Callable[[], object]) -> str:
    with pytest.raises(SettingsError) as error:
        read()
    return str(error.value)


def test_three_values_are_enough_and_nothing_listens_for_other_machines(tmp_path: Path) -> None:
    settings = load_settings(env(tmp_path, *COMPLETE))
    assert (settings.serve_http, settings.metrics_port) == (False, None)
    assert {settings.http_host, settings.metrics_host} == {"127.0.0.1"}


@each(
    ("line", "shown"),
    [
        ("", ("texts", "dropped after 90 days")),
        ("TEXT_DAYS=0", ("texts", "kept until somebody deletes them")),
        ("RETENTION_DAYS=30", ("texts", "deleted after 30 days")),
        ("STORE_TEXT=none", ("texts", "dropped with the verdict")),
        ("OPENAI_BASE_URL=https://me:s3cret@models.example/v1", ("sent to", "models.example")),
        ("JUDGE_MODEL=offline", ("sent to", "no model")),
        ("CHANNELS_DENIED=C03,C02", ("scored in", "all channels but C02, C03")),
        ("SCORE_PEOPLE=true", ("replies of", "bots and people")),
    ],
)
def test_settings_in_force_are_shown(tmp_path: Path, line: str, shown: tuple[str, str]) -> None:
    assert shown in load_settings(env(tmp_path, *COMPLETE, line)).in_force().items()


def test_variables_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    load(StoreSettings, env(tmp_path, "HTTP_PROXY=x", "LOG_LEVEL=info", "POSTGRES_DB=x"))


NO_TLS = "SLACK_API_URL: http:// would send the token unencrypted; expected https://"


@each(
    ("lines", "said"),
    [
        (("RETENTION_DAY=1",), "RETENTION_DAY: did you mean RETENTION_DAYS"),
        (("SLACK_BOT_TOKEN=", "JUDGE_MODEL="), "SLACK_BOT_TOKEN: missing"),
        ((BOT, KEY), "SLACK_APP_TOKEN: missing"),
        ((BOT, APP, "JUDGE_MODEL=offline", "JUDGE_MODELS=large"), "OPENAI_API_KEY: missing"),
        (
            (*COMPLETE, "JUDGE_MODELS=large, offline"),
            "JUDGE_MODELS: 'offline' is not a model; leave it out",
        ),
        (
            (*COMPLETE, "CHANNELS_ALLOWED='#general'"),
            "CHANNELS_ALLOWED: '#general' is not a channel id; ",
        ),
        ((*COMPLETE, "TEXT_DAYS=abc"), "TEXT_DAYS: expected a whole number"),
        ((*COMPLETE, "SLACK_API_URL=slack.com"), "SLACK_API_URL: expected a URL that begins with"),
        (
            (*COMPLETE, "SCORE_PEOPLE=maybe"),
            "SCORE_PEOPLE: 'maybe' is not known; expected private, true or false",
        ),
        (
            (*COMPLETE, "JUDGE_ASK=loudly"),
            "JUDGE_ASK: expected 'text', 'distribution' or 'decision'",
        ),
        ((*COMPLETE, "SLACK_API_URL=http://localhost.example/"), NO_TLS),
        ((*COMPLETE, "SLACK_API_URL=http://127.0.0.1@slack.com/"), NO_TLS),
    ],
)
def test_a_wrong_setting_is_refused_with_what_to_do(
    tmp_path: Path, lines: tuple[str, ...], said: str
) -> None:
    assert said in refusal(lambda: load_settings(env(tmp_path, *lines)))


@pytest.mark.parametrize(
    "line", ["OPENAI_BASE_URL=http://localhost:11434/v1", "JUDGE_MODEL=offline"]
)
def test_a_custom_server_or_the_offline_rater_needs_no_key(tmp_path: Path, line: str) -> None:
    assert load_settings(env(tmp_path, BOT, APP, line)).openai_api_key is None


def test_a_blank_signing_secret_counts_as_missing(tmp_path: Path) -> None:
    lines = (BOT, KEY, "SLACK_SIGNING_SECRET='   '")
    assert "SLACK_SIGNING_SECRET: missing" in refusal(
        lambda: load_settings(env(tmp_path, *lines), serve_http=True)
    )


def test_the_example_leaves_only_the_three_required_values_empty() -> None:
    lines = (Path(__file__).parents[2] / ".env.example").read_text().splitlines()
    empty = [
        line.removesuffix("=") for line in lines if line.endswith("=") and not line.startswith("#")
    ]
    assert empty == ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "OPENAI_API_KEY"]


def test_a_file_from_windows_is_read(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(
        b'\xef\xbb\xbfSLACK_BOT_TOKEN="xoxb-1"\r\nSLACK_APP_TOKEN = '
        b"xapp-1\r\nOPENAI_API_KEY=sk-1\r\n"
    )
    settings = load_settings(file)
    assert settings.slack_app_token
    tokens = settings.slack_bot_token, settings.slack_app_token
    assert [token.get_secret_value() for token in tokens] == ["xoxb-1", "xapp-1"]


def test_a_file_in_another_encoding_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".env").write_bytes("SLACK_BOT_TOKEN=xoxb-1\n".encode("utf-16"))
    assert refusal(load_settings) == ".env is not UTF-8; save the file as UTF-8"


@pytest.mark.parametrize(("begin", "end"), [("", ""), ("\ufeff", "\r\n")])
def test_secrets_and_no_other_settings_can_be_read_from_files(
    tmp_path: Path, begin: str, end: str
) -> None:
    lines = in_files(
        tmp_path,
        **{name: begin + value + end for name, value in SECRETS.items()},
        JUDGE_MODEL="of-a-file",
    )
    settings = load_settings(env(tmp_path, *lines, "SLACK_BOT_TOKEN="), serve_http=True)
    read = {name: getattr(settings, name.lower()) for name in SECRETS}
    found = {
        name: value if isinstance(value, str) else value.get_secret_value()
        for name, value in read.items()
    }
    assert (found, settings.judge_model) == (SECRETS, DEFAULT_MODEL)


def test_a_value_that_is_passed_in_overrides_a_file_and_the_environment_overrides_the_env_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").write_text("xoxb-2")
    monkeypatch.setenv("SLACK_BOT_TOKEN_FILE", str(tmp_path / "other"))
    url = "sqlite+aiosqlite:///given.db"
    settings = load_settings(env(tmp_path, *in_files(tmp_path, **SECRETS)), database_url=url)
    assert (settings.slack_bot_token.get_secret_value(), settings.database_url) == ("xoxb-2", url)


@each("name", SECRETS)
def test_a_secret_that_is_set_twice_is_refused(tmp_path: Path, name: str) -> None:
    lines = (*in_files(tmp_path, **SECRETS), f"{name}={SECRETS[name]}")
    said = refusal(lambda: load_settings(env(tmp_path, *lines), serve_http=True))
    assert said == f"{name}_FILE: {name} is set, too; leave one of them out"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b"xoxb-hush\xff", "is not text in UTF-8"),
        (b"xapp-hush\n", "expected a token that begins with xoxb-"),
        (b"xoxb-1\nhush\n", "must hold one line"),
    ],
)
def test_an_invalid_secret_file_is_reported_without_its_contents(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    lines = (f"SLACK_BOT_TOKEN_FILE={file}", "JUDGE_MODEL=offline")
    refused = refusal(lambda: load_settings(env(tmp_path, *lines)))
    assert "SLACK_BOT_TOKEN" in refused
    assert said in refused
    assert "hush" not in refused


def test_a_command_that_calls_slack_needs_the_bot_token_alone(tmp_path: Path) -> None:
    assert load(PreviewSettings, env(tmp_path, BOT)).slack_app_token is None
    assert load(PreviewSettings, env(tmp_path, BOT), serve_http=True).slack_signing_secret is None
    (said,) = refusal(lambda: load(PreviewSettings, env(tmp_path, ""))).splitlines()[1:]
    assert "SLACK_BOT_TOKEN: missing" in said
    lines = (BOT, "SLACK_APP_TOKEN=xoxb-1", KEY)  # not needed, but wrong
    said = refusal(lambda: load(PreviewSettings, env(tmp_path, *lines)))
    assert "SLACK_APP_TOKEN: expected a token that begins with xapp-" in said


def test_models_to_choose_from_are_named_once_and_in_order(tmp_path: Path) -> None:
    listed = load_settings(env(tmp_path, *COMPLETE, "JUDGE_MODELS=' large,,small , large small'"))
    assert listed.judge_models == ("large", "small")


def test_a_wrong_line_hides_no_other_problem_and_a_folder_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / ".env"
    file.write_text("RETENTION_DAY=1\nJUDGE_SAMPLES=x\nSLACK_BOT_TOKEN xoxb-1\n")
    with pytest.raises(SettingsError) as both:
        load_settings(file, judge_model="offline")
    misspelt = (
        "RETENTION_DAY: did you mean",
        "JUDGE_SAMPLES: expected a whole number",
        "SLACK_BOT_TOKEN: missing",
    )
    for said in (f"{file}: from line 3 on, a line is not NAME=value", *misspelt):
        assert f"\n  {said}" in str(both.value)
    assert caplog.records == []
    with pytest.raises(SettingsError, match=r"cannot be read \(Is a directory\)"):
        load_settings(tmp_path, judge_model="offline")
