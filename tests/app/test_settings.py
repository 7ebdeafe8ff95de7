from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.judges import limits_of
from bot.setting_values import Role
from bot.settings import PreviewSettings, Settings, StoreSettings, load, load_settings, load_store_settings
from judge import DEFAULT_MODEL

SETTINGS = [name.upper() for name in Settings.model_fields]
NAMES = [*SETTINGS, *(f"{name}_FILE" for name in SETTINGS)]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def env(folder: Path, *lines: str) -> Path:
    file = folder / ".env"
    file.write_text("\n".join(lines))
    return file


def test_three_values_are_enough(tmp_path: Path) -> None:
    settings = load_settings(env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "OPENAI_API_KEY=sk-1"))
    assert settings.judge_model == DEFAULT_MODEL
    assert settings.slack_api_url == "https://slack.com/api/"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("RETENTION_DAY", "RETENTION_DAYS"),
        ("STORE_TEXTS", "STORE_TEXT"),
        ("CHANNEL_ALLOWED", "CHANNELS_ALLOWED"),
        ("slack_bot_tokens", "SLACK_BOT_TOKEN"),
    ],
)
def test_a_name_that_is_nearly_a_settings_is_refused(tmp_path: Path, name: str, meant: str) -> None:
    with pytest.raises(SettingsError, match=f"{name.upper()}: did you mean {meant}"):
        load(StoreSettings, env(tmp_path, f"{name}=xoxb-secret"))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("", ("texts", "kept until somebody deletes them")),
        ("STORE_TEXT=none", ("texts", "dropped with the verdict")),
        ("RETENTION_DAYS=90", ("scores", "deleted after 90 days")),
        ("", ("sent to", "api.openai.com")),
        ("OPENAI_BASE_URL=https://me:s3cret@models.example/v1", ("sent to", "models.example")),
        ("JUDGE_MODEL=offline", ("sent to", "no model")),
        ("CHANNELS_ALLOWED=C0000000002,C0000000001", ("scored in", "C0000000001, C0000000002")),
        ("CHANNELS_DENIED=C0000000003", ("scored in", "all channels but C0000000003")),
        ("SCORE_PEOPLE=false", ("replies of", "bots alone")),
    ],
)
def test_what_is_in_force_is_said(tmp_path: Path, line: str, shown: tuple[str, str]) -> None:
    tokens = ("SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "OPENAI_API_KEY=sk-1")
    assert shown in load_settings(env(tmp_path, *tokens, line)).in_force().items()


def test_variables_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    others = ("HTTP_PROXY=x", "OPENAI_ORG_ID=x", "JUDGE_BATCH_HURRY=1", "LOG_LEVEL=info", "TZ=UTC", "POSTGRES_DB=x")
    load(StoreSettings, env(tmp_path, *others))


def test_nothing_listens_for_other_machines_by_default(tmp_path: Path) -> None:
    settings = load_settings(env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "OPENAI_API_KEY=sk-1"))
    assert (settings.serve_http, settings.metrics_port) == (False, None)
    assert {settings.http_host, settings.metrics_host} == {"127.0.0.1"}


def test_all_missing_settings_are_listed_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(env(tmp_path, ""))
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "OPENAI_API_KEY"):
        assert f"{name}: missing" in str(error.value)


def test_missing_and_wrong_settings_are_listed_together(tmp_path: Path) -> None:
    lines = ("SLACK_BOT_TOKEN=xapp-swapped", "JUDGE_SAMPLES=none", "SLACK_API_URL=slack.com", "LOG_FORMAT=xml")
    with pytest.raises(SettingsError) as error:
        load_settings(env(tmp_path, *lines))
    message = str(error.value)
    assert "SLACK_BOT_TOKEN: expected a token that begins with xoxb-" in message
    for name in ("SLACK_APP_TOKEN", "JUDGE_SAMPLES", "SLACK_API_URL", "LOG_FORMAT", "OPENAI_API_KEY"):
        assert f"\n  {name}: " in message


def test_a_secret_is_never_part_of_the_message(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(env(tmp_path, "SLACK_BOT_TOKEN=sk-secret-value"))
    assert "secret-value" not in str(error.value)


def test_selectable_models_need_a_key_even_with_the_offline_rater(tmp_path: Path) -> None:
    lines = ["SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "JUDGE_MODEL=offline"]
    with pytest.raises(SettingsError, match="OPENAI_API_KEY: missing"):
        load_settings(env(tmp_path, *lines, "JUDGE_MODELS=large"))
    with pytest.raises(SettingsError, match="JUDGE_MODELS: 'offline' is not a model; leave it out"):
        load_settings(env(tmp_path, *lines, "JUDGE_MODELS=large, offline"))
    with pytest.raises(SettingsError, match="JUDGE_MODELS: 'large small' contains a space"):
        load_settings(env(tmp_path, *lines, "JUDGE_MODELS=large small"))


@pytest.mark.parametrize("line", ["OPENAI_BASE_URL=http://localhost:11434/v1", "JUDGE_MODEL=offline"])
def test_a_custom_server_or_the_offline_rater_needs_no_key(tmp_path: Path, line: str) -> None:
    settings = load_settings(env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", line))
    assert settings.openai_api_key is None


@pytest.mark.parametrize("secret", ["", "   "])
def test_a_blank_signing_secret_counts_as_missing(tmp_path: Path, secret: str) -> None:
    lines = ("SLACK_BOT_TOKEN=xoxb-1", "OPENAI_API_KEY=k", f"SLACK_SIGNING_SECRET='{secret}'")
    with pytest.raises(SettingsError, match="SLACK_SIGNING_SECRET: missing"):
        load_settings(env(tmp_path, *lines), serve_http=True)


def test_an_empty_line_of_the_example_counts_as_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="SLACK_BOT_TOKEN: missing"):
        load_settings(env(tmp_path, "SLACK_BOT_TOKEN=", "JUDGE_MODEL="))


def test_the_api_url_always_ends_with_a_slash(tmp_path: Path) -> None:
    lines = ("SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "OPENAI_API_KEY=k")
    settings = load_settings(env(tmp_path, *lines, "SLACK_API_URL=http://127.0.0.1:8123/api"))
    assert settings.slack_api_url == "http://127.0.0.1:8123/api/"


def test_the_example_leaves_only_the_three_required_values_empty() -> None:
    example = Path(__file__).parents[2] / ".env.example"
    assigned = [line.removesuffix("=") for line in example.read_text().splitlines() if line.endswith("=")]
    assert [name for name in assigned if not name.startswith("#")] == [
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "OPENAI_API_KEY",
    ]


def test_a_file_from_windows_is_read(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b'\xef\xbb\xbfSLACK_BOT_TOKEN="xoxb-1"\r\nSLACK_APP_TOKEN = xapp-1\r\nOPENAI_API_KEY=sk-1\r\n')
    settings = load_settings(file)
    assert settings.slack_bot_token.get_secret_value() == "xoxb-1"
    assert settings.slack_app_token.get_secret_value() == "xapp-1"


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("SLACK_BOT_TOKEN=xoxb-1\r\n# für uns\n".encode("latin-1"), 2),
        ("SLACK_BOT_TOKEN=xoxb-1\n".encode("utf-16"), 1),
    ],
)
def test_a_file_in_another_encoding_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes, line: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".env").write_bytes(raw)
    for read in (load_settings, load_store_settings):
        with pytest.raises(SettingsError, match=rf"^\.env: line {line} is not UTF-8; save the file as UTF-8$"):
            read()


COMPLETE = ("SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "OPENAI_API_KEY=sk-1")


@pytest.mark.parametrize("text", ["C0123ABCD,G0ABC", " C0123ABCD , G0ABC ,", "G0ABC C0123ABCD"])
def test_channels_are_separated_by_commas_or_spaces(text: str, tmp_path: Path) -> None:
    settings = load_settings(env(tmp_path, *COMPLETE, f"CHANNELS_DENIED={text}"))
    assert settings.channels_denied == {"C0123ABCD", "G0ABC"}
    assert settings.channels_allowed == frozenset()


def test_a_channel_name_is_refused_with_an_example_of_an_id(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"CHANNELS_ALLOWED: '#general' is not a channel id; .* C0123ABCD"):
        load_settings(env(tmp_path, *COMPLETE, "CHANNELS_ALLOWED='#general'"))


SECRETS = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "SLACK_SIGNING_SECRET": "8f742231",
    "OPENAI_API_KEY": "sk-1",
    "DATABASE_URL": "postgresql://judge:p%40ss@db/judge",
}


def in_files(folder: Path, **contents: str) -> list[str]:
    """Lines that name a file for each secret; the files get these contents."""
    for name, content in contents.items():
        (folder / name.lower()).write_text(content)
    return [f"{name}_FILE={folder / name.lower()}" for name in contents]


@pytest.mark.parametrize("begin", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_secrets_can_be_read_from_files(tmp_path: Path, begin: str, end: str) -> None:
    lines = in_files(tmp_path, **{name: begin + value + end for name, value in SECRETS.items()})
    settings = load_settings(env(tmp_path, *lines), serve_http=True)
    read = {name: getattr(settings, name.lower()) for name in SECRETS}
    assert {
        name: value if isinstance(value, str) else value.get_secret_value() for name, value in read.items()
    } == SECRETS


def test_the_file_of_the_log_address_can_be_named_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "address").write_text("sqlite+aiosqlite:////data/log.db\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL_FILE", str(tmp_path / "address"))
    assert load_store_settings().database_url == "sqlite+aiosqlite:////data/log.db"


def test_a_file_named_in_the_environment_overrides_one_named_in_the_env_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").write_text("xoxb-2")
    monkeypatch.setenv("SLACK_BOT_TOKEN_FILE", str(tmp_path / "other"))
    settings = load_settings(env(tmp_path, *in_files(tmp_path, **SECRETS)))
    assert settings.slack_bot_token.get_secret_value() == "xoxb-2"


def test_only_secrets_are_read_from_files(tmp_path: Path) -> None:
    lines = in_files(tmp_path, **SECRETS, JUDGE_MODEL="of-a-file")
    assert load_settings(env(tmp_path, *lines)).judge_model == DEFAULT_MODEL


def test_a_value_that_is_passed_in_overrides_a_file(tmp_path: Path) -> None:
    lines = in_files(tmp_path, **SECRETS)
    settings = load_settings(env(tmp_path, *lines), database_url="sqlite+aiosqlite:///given.db")
    assert settings.database_url == "sqlite+aiosqlite:///given.db"


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_that_is_set_twice_is_refused(tmp_path: Path, name: str) -> None:
    lines = in_files(tmp_path, **SECRETS)
    with pytest.raises(SettingsError) as error:
        load_settings(env(tmp_path, *lines, f"{name}={SECRETS[name]}"), serve_http=True)
    assert [line.strip() for line in str(error.value).splitlines()[1:]] == [
        f"{name}: is set, and so is {name}_FILE; leave one of them out"
    ]


def test_an_empty_line_beside_a_file_does_not_count_as_a_second_value(tmp_path: Path) -> None:
    settings = load_settings(env(tmp_path, *in_files(tmp_path, **SECRETS), "SLACK_BOT_TOKEN="))
    assert settings.slack_bot_token.get_secret_value() == "xoxb-1"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"xoxb-hush\xff", "is not text in UTF-8"),
        (b"xapp-hush\n", "expected a token that begins with xoxb-"),
        (b"xoxb-1\nhush\n", "has more than one line"),
        (b"xoxb-hush" * 10_000, "holds more than 64 KiB"),
        (Path("/dev/zero"), "is not a regular file"),
    ],
)
def test_an_invalid_secret_file_is_reported_without_its_contents(
    tmp_path: Path, content: bytes | Path | None, said: str
) -> None:
    file = tmp_path / "token"
    if isinstance(content, Path):
        file.symlink_to(content)
    elif content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError) as error:
        load_settings(env(tmp_path, f"SLACK_BOT_TOKEN_FILE={file}", "JUDGE_MODEL=offline"))
    first, second = str(error.value).splitlines()[1:]  # all problems are reported together
    assert "SLACK_BOT_TOKEN: " in first
    assert said in first
    assert "hush" not in first
    assert "SLACK_APP_TOKEN: missing" in second


@pytest.mark.parametrize("url", ["http://127.0.0.1:8123/api/", "http://localhost/api/", "http://[::1]:1/api/"])
def test_a_slack_api_url_on_this_machine_needs_no_tls(tmp_path: Path, url: str) -> None:
    assert load_settings(env(tmp_path, *COMPLETE, f"SLACK_API_URL={url}")).slack_api_url == url


@pytest.mark.parametrize(
    "url", ["http://slack.com/api/", "http://slack:8123/", "http://localhost.example/", "http://127.0.0.1@slack.com/"]
)
def test_no_token_is_sent_to_another_machine_without_tls(tmp_path: Path, url: str) -> None:
    with pytest.raises(
        SettingsError, match="SLACK_API_URL: http:// would send the token unencrypted; expected https://"
    ):
        load_settings(env(tmp_path, *COMPLETE, f"SLACK_API_URL={url}"))


def test_a_worker_needs_no_app_token_and_no_signing_secret(tmp_path: Path) -> None:
    worker = load_settings(env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1", "OPENAI_API_KEY=sk-1"), Role.WORKER)
    assert worker.slack_app_token is None
    assert load_settings(env(tmp_path, *COMPLETE[::2]), Role.WORKER, serve_http=True).slack_signing_secret is None
    with pytest.raises(SettingsError, match="OPENAI_API_KEY: missing"):
        load_settings(env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1"), Role.WORKER)


def test_a_front_needs_no_key_for_the_model(tmp_path: Path) -> None:
    front = load_settings(env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1"), Role.FRONT)
    assert front.openai_api_key is None
    with pytest.raises(SettingsError, match="SLACK_APP_TOKEN: missing"):
        load_settings(env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1"), Role.FRONT)


def test_a_preview_needs_only_the_bot_token(tmp_path: Path) -> None:
    assert load(PreviewSettings, env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1")).slack_app_token is None
    with pytest.raises(SettingsError, match=r"^[^\n]*\n  SLACK_BOT_TOKEN: missing[^\n]*$"):
        load(PreviewSettings, env(tmp_path, ""))


def test_a_wrong_token_is_refused_even_if_it_is_not_needed(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="SLACK_APP_TOKEN: expected a token that begins with xapp-"):
        load_settings(
            env(tmp_path, "SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xoxb-1", "OPENAI_API_KEY=k"), Role.WORKER
        )


def test_a_secret_in_place_of_a_file_name_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(env(tmp_path, "SLACK_BOT_TOKEN_FILE=xoxb-hush", "DATABASE_URL_FILE=postgres://judge:hush@db/log"))
    assert "DATABASE_URL: the file that DATABASE_URL_FILE names cannot be read" in str(error.value)
    assert "hush" not in str(error.value)


@pytest.mark.parametrize(
    ("model", "samples", "ratings"), [("small", "", 6), ("small", "3", 6), ("small", "1", 2), ("a,b", "", 5)]
)
def test_the_limits_allow_for_the_ratings_of_both_models(
    tmp_path: Path, model: str, samples: str, ratings: int
) -> None:
    lines = ["SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "OPENAI_API_KEY=sk-1", f"JUDGE_MODEL={model}"]
    settings = load_settings(env(tmp_path, *lines, f"JUDGE_SAMPLES={samples}", "JUDGE_ESCALATE_TO=big"))
    assert limits_of(settings).ratings == ratings
