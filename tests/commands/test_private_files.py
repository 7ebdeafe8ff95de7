"""Who may read what is written: the real commands, in processes with the most generous umask there
is.
"""

import asyncio
import json
import os
import signal
import stat
from pathlib import Path

import pytest

from bot.store import Store
from pocket_slack import Sandbox
from tests import bot_command
from tests.cases import url
from tests.model_server import ModelServer
from tests.programs import JUDGE_BOT, environment, pocket_slack
from tests.stage import CHANNEL, GOOD, Stage, is_verdict


async def start(
    program: Path, *arguments: object, env: dict[str, str], folder: Path
) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        program, *map(str, arguments), env=env, cwd=folder, stdout=pipe, stderr=pipe, umask=0
    )


async def run(
    program: Path, *arguments: object, env: dict[str, str], folder: Path
) -> tuple[int | None, str]:
    if program.name in {"judge", "judge-bot"}:
        before = os.umask(0)
        try:
            code, said, wrong = await bot_command.run(
                program.name, tuple(map(str, arguments)), env, folder
            )
        finally:
            os.umask(before)
        return code, said + wrong
    process = await start(program, *arguments, env=env, folder=folder)
    out, err = await process.communicate()
    return process.returncode, (out + err).decode()


def modes(folder: Path) -> dict[str, str]:
    """The permissions of all that is in a folder, such as rw-------, by path."""
    return {
        str(path.relative_to(folder)): stat.filemode(path.stat().st_mode)[1:]
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.slow
async def test_the_log_and_all_beside_it_are_their_owners_alone(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    async with pocket_slack() as slack:
        stage = Stage.beside(slack, model_server)
        env = environment(slack, model_server, tmp_path) | {
            "DATABASE_URL": url(tmp_path / "new" / "deep")
        }
        process = await start(JUDGE_BOT, "serve", env=env, folder=tmp_path)
        await slack.connected()
        stage.ann.command(CHANNEL, "/judge", "What? | That.")
        await slack.until(lambda: any(is_verdict(message) for message in stage.ours()))
        while_it_runs = modes(tmp_path)
        code, said = await run(
            JUDGE_BOT, "export", "-o", "labels.jsonl", env=env, folder=tmp_path / "new"
        )
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert (code, said.splitlines()[0]) == (0, "0 labels written")
    assert while_it_runs == {
        "new": "rwx------",
        "new/deep": "rwx------",
        **{f"new/deep/log.db{ending}": "rw-------" for ending in ("", "-shm", "-wal", ".lock")},
    }
    assert modes(tmp_path)["new/labels.jsonl"] == "rw-------"


@pytest.mark.slow
async def test_a_log_that_was_shared_stays_shared_and_the_start_says_so(
    model_server: ModelServer, tmp_path: Path
) -> None:
    await (await Store.open(url(tmp_path))).close()
    (tmp_path / "log.db").chmod(0o640)
    async with pocket_slack() as slack:
        process = await start(
            JUDGE_BOT, "serve", env=environment(slack, model_server, tmp_path), folder=tmp_path
        )
        await slack.connected()
        process.send_signal(signal.SIGTERM)
        _, err = await process.communicate()
    events = {each["event"]: each for each in map(json.loads, err.splitlines())}
    said = events["others_may_read_the_database"]
    beside = " ".join(f"{tmp_path}/log.db{ending}" for ending in ("", "-wal", "-shm"))
    assert (said["level"], said["mend"]) == ("warning", f"chmod 600 {beside}")
    assert modes(tmp_path)["log.db"] == "rw-r-----"


@pytest.mark.parametrize(
    ("command", "link"),
    [
        ("judge batch in.jsonl -o scored.csv --model offline", "scored.csv.part"),
        ("judge-bot export --all -o labels.jsonl", "labels.jsonl"),
        ("judge-bot export --all -o labels.jsonl", "labels.jsonl.part"),
    ],
)
async def test_nothing_is_written_through_a_link_that_another_put_in_the_way(
    tmp_path: Path, command: str, link: str
) -> None:
    await (await Store.open(url(tmp_path))).close()
    row = {"prompt": "What?", "completion": "That.", "score": 3}
    (tmp_path / "in.jsonl").write_text(f"{json.dumps(row)}\n")
    (tmp_path / "kept").write_text("as it was")
    (tmp_path / "kept").chmod(0o644)
    (tmp_path / link).symlink_to("kept")
    program, *arguments = command.split()
    env = {"PATH": os.environ["PATH"], "DATABASE_URL": url(tmp_path)}
    code, said = await run(JUDGE_BOT.with_name(program), *arguments, env=env, folder=tmp_path)
    assert code == 0, said
    assert (tmp_path / "kept").read_text() == "as it was"
    written = tmp_path / arguments[arguments.index("-o") + 1]
    assert (written.is_symlink(), modes(tmp_path)[written.name]) == (False, "rw-------")


async def test_doctor_names_each_file_that_others_may_read(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    log = await Store.open(url(tmp_path))
    async with pocket_slack() as slack:
        env = with_token_in_file(slack, environment(slack, model_server, tmp_path), tmp_path)
        for name in ("log.db-wal", ".env", "token"):
            (tmp_path / name).chmod(0o604)
        code, said = await run(JUDGE_BOT, "doctor", env=env, folder=tmp_path)
        for name in ("log.db-wal", ".env", "token"):
            (tmp_path / name).chmod(0o600)
        code_when_mended, _ = await run(JUDGE_BOT, "doctor", env=env, folder=tmp_path)
    await log.close()
    token = tmp_path / "token"
    for line in (
        f"wrong  other users can read the secrets in .env, {token}; chmod 600 .env {token}",
        f"wrong  DATABASE_URL: other users can read the database; chmod 600 {tmp_path}/log.db-wal",
    ):
        assert line in said.splitlines()
    assert (code, code_when_mended) == (1, 0)


def with_token_in_file(slack: Sandbox, env: dict[str, str], folder: Path) -> dict[str, str]:
    """The bot token stands in a file that `.env` names; both are their owner's alone."""
    (folder / "token").write_text(env["SLACK_BOT_TOKEN"])
    (folder / ".env").write_text(f"SLACK_BOT_TOKEN_FILE={folder}/token\n")
    for name in ("token", ".env"):
        (folder / name).chmod(0o600)
    return {key: value for key, value in env.items() if key != "SLACK_BOT_TOKEN"}


@pytest.mark.slow
async def test_doctor_leaves_a_mounted_secret_to_who_mounted_it(
    model_server: ModelServer, tmp_path: Path
) -> None:
    """As in a container: a file system in memory that is read-only, with files that all may read."""
    mount = tmp_path / "secrets"
    mount.mkdir()
    script = (
        'mount -t tmpfs secrets "$1" && printf %s "$2" > "$1/token" && chmod 444 "$1/token" '
        '&& mount -o remount,ro "$1" && exec "$3" doctor'
    )
    async with pocket_slack() as slack:
        env = environment(slack, model_server, tmp_path) | {
            "SLACK_BOT_TOKEN_FILE": f"{mount}/token"
        }
        del env["SLACK_BOT_TOKEN"]
        arguments = ("-m", "sh", "-c", script, "sh", mount, slack.bot_token, JUDGE_BOT)
        _, said = await run(Path("/usr/bin/unshare"), *arguments, env=env, folder=tmp_path)
    if "SLACK_BOT_TOKEN: bot" not in said:
        pytest.skip(f"nothing can be mounted here: {said[:80]}")
    assert "others may read" not in said
