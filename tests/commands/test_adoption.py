"""The settings of an adopted judge, as they come into `.env`."""

from pathlib import Path

import pytest

from bot.commands.replay import write_settings
from bot.setting_values import Role
from bot.settings import load_settings

JUDGE = {"JUDGE_MODEL": "bigger", "JUDGE_RUBRIC": "it's\\mine.toml", "JUDGE_ESCALATE_TO": ""}
WRITTEN = ["JUDGE_RUBRIC='it\\'s\\\\mine.toml'", "JUDGE_ESCALATE_TO=''"]


@pytest.fixture
def env_file(tmp_path: Path) -> Path:
    return tmp_path / ".env"


def test_settings_are_read_back_as_they_were_written(env_file: Path) -> None:
    write_settings(env_file, JUDGE)

    given = {"slack_bot_token": "xoxb-1", "openai_base_url": "http://127.0.0.1/v1"}
    settings = load_settings(env_file, Role.WORKER, **given)
    assert (settings.judge_model, settings.judge_rubric) == ("bigger", JUDGE["JUDGE_RUBRIC"])
    assert settings.judge_escalate_to is None
    assert env_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_all_but_the_values_stays(env_file: Path, end: str, mark: str) -> None:
    before = [
        f"{mark}judge_model = old",
        "",
        "# ours: é",
        'KEY="two',
        'lines"',
        "export JUDGE_ESCALATE_TO=x",
        "no setting",
    ]
    env_file.write_bytes(end.join(before).encode())

    write_settings(env_file, JUDGE)

    after = [f"{mark}judge_model=bigger", *before[1:5], "export JUDGE_ESCALATE_TO=''", before[6], WRITTEN[0], ""]
    assert env_file.read_bytes().decode() == end.join(after)


def test_file_behind_a_link_is_written_with_its_permissions(env_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "settings"
    target.write_text("JUDGE_MODEL=old\n")
    target.chmod(0o640)
    env_file.symlink_to(target)

    write_settings(env_file, JUDGE)

    assert env_file.is_symlink()
    assert target.read_text().startswith("JUDGE_MODEL=bigger\n")
    assert target.stat().st_mode & 0o777 == 0o640


def test_where_one_setting_cannot_be_written_none_is(env_file: Path, tmp_path: Path) -> None:
    env_file.write_text("JUDGE_MODEL=old\n")

    with pytest.raises(UnicodeError):
        write_settings(env_file, JUDGE | {"JUDGE_RUBRIC": "a file named in Latin-1: \udce9"})

    assert env_file.read_text() == "JUDGE_MODEL=old\n"
    assert list(tmp_path.iterdir()) == [env_file]
