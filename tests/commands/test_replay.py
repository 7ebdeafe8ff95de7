"""`judge-bot replay` as a process of its own: logged cases judged anew, and what may be concluded from it."""

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from bot.domain.case import CaseSource
from bot.domain.label import Label
from bot.domain.verdict import MADE_UP
from bot.setting_values import Role
from bot.settings import load_settings
from bot.store import Store
from bot.store.schema import cases
from tests.cases import a_case, bare_verdict, held, url
from tests.model_server import Answer, Failure, ModelServer, Reply, Stall
from tests.programs import run, start, with_log

OLD = "gpt-6-luna, additive-5 f846c469"
CASES = 40

Replay = Callable[..., Awaitable[tuple[int, str, str]]]


def digit(request: dict[str, Any]) -> Reply:
    """What the response says is its score."""
    found = re.search(r"It is (\d)\.", request["messages"][-1]["content"])
    return f"score: {found[1]}\nSo it says."


async def add(log: Store, number: int, before: int, said: int, human: int | None = None, **changes: Any) -> int:
    fields = {"key": f"k{number}", "question": f"What is {number}?", "response": f"It is {said}."} | changes
    version = fields.pop("judge_version", OLD)
    case, _ = await log.add(a_case(**fields))
    verdict = bare_verdict(before, model="gpt-6-luna", judge_version=version)
    recorded = await log.record(await held(log, case), verdict)
    if human is not None:
        await log.labels.put(recorded, "U9", Label(human, None))
    return recorded.id


async def fill(log: Store) -> None:
    """The old judge was one point too kind every other time; what the response says is what people say."""
    for number in range(CASES):
        said = number % 5
        await add(log, number, said + number % 2, said, said if number < 30 else None)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the cases, made once to be copied: writing them takes longer than a replay."""
    folder = tmp_path_factory.mktemp("filled")
    asyncio.run(with_log(url(folder), fill))
    return folder / "log.db"


@pytest.fixture
def database_url(filled: Path, tmp_path: Path) -> str:
    shutil.copy(filled, tmp_path)
    return url(tmp_path)


@pytest.fixture
def environment(model_server: ModelServer, database_url: str) -> dict[str, str]:
    model_server.script(digit)
    return {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": database_url,
        "OPENAI_BASE_URL": model_server.base_url,
        "JUDGE_CONCURRENCY": "4",
    }


@pytest.fixture
def replay(environment: dict[str, str], tmp_path: Path) -> Replay:
    async def replay_here(*options: str, **changes: str) -> tuple[int, str, str]:
        code, out, err = await run("replay", environment | changes, tmp_path, "-o", "replay.jsonl", *options)
        return code, out.replace("\n", " "), err

    return replay_here


async def contents(database_url: str) -> list[str]:
    log = await Store.open(database_url)
    async with log.database.engine.connect() as connection:
        found = [str(row) for row in await connection.exec_driver_sql("SELECT * FROM cases ORDER BY id")]
    await log.close()
    return found


async def test_better_judge_is_compared_case_by_case_and_nothing_else_is_touched(
    replay: Replay, database_url: str, tmp_path: Path, model_server: ModelServer
) -> None:
    before = await contents(database_url)

    code, out, err = await replay("--model", "bigger", "--samples", "1")

    assert (code, err) == (0, "")
    assert out.startswith(f"Before: {OLD}. Now: bigger, additive-5 ")
    assert "Mean score of 40 cases: 2.50 before, 2.00 now, -0.50 (between -0.66 and -0.34)." in out
    assert "Same score as people (30 labelled): 50% before, 100% now, +50% (between" in out
    assert "Mean above people's (30 labelled): 0.50 before, 0.00 now" in out
    assert "The new judge is no worse than the old one." in out
    assert "Changed most: case 2 from 2 to 1, people 1; case 4 from 4 to 3, people 3;" in out
    assert "40 of 40 cases, in replay.jsonl; 0 unscored. Cost: not known." in out
    assert {request["model"] for request in model_server.requests} == {"bigger"}
    assert await contents(database_url) == before
    written = tmp_path / "replay.jsonl"
    assert "It is" not in written.read_text()
    assert written.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("options", "count"), [("--only labelled", 30), ("--limit 7", 7), ("--only labelled --limit 3", 3)]
)
async def test_cases_are_chosen_by_label_or_drawn_up_to_a_number(
    replay: Replay, tmp_path: Path, model_server: ModelServer, options: str, count: int
) -> None:
    _, out, _ = await replay("--samples", "1", *options.split())
    assert f"{count} of {count} cases" in out
    assert len(model_server.requests) == count
    replayed = [json.loads(line)["case"] for line in (tmp_path / "replay.jsonl").read_text().splitlines()]
    assert (sorted(replayed) == list(range(1, count + 1))) is (count == 30)


async def test_no_worse_judge_is_adopted(replay: Replay, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# ours\nJUDGE_MODEL=gpt-6-luna\nLOG_FORMAT=json")
    (tmp_path / ".env").chmod(0o600)

    code, out, _ = await replay("--model", "bigger", "--samples", "1", "--only", "labelled", "--adopt")

    assert code == 0
    assert out.endswith(
        "Adopted: JUDGE_MODEL, JUDGE_RUBRIC, JUDGE_SAMPLES in .env; the bot takes them at its next start. "
    )
    lines = (tmp_path / ".env").read_text().splitlines()
    assert lines == ["# ours", "JUDGE_MODEL=bigger", "LOG_FORMAT=json", "JUDGE_RUBRIC='additive-5'", "JUDGE_SAMPLES=1"]
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600


async def test_judge_is_adopted_in_a_new_private_file_as_it_was_measured_without_a_stronger_model(
    replay: Replay, tmp_path: Path
) -> None:
    options = ("--model", "bigger", "--samples", "1", "--only", "labelled", "--adopt")
    assert (await replay(*options))[0] == 0

    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    given = {"slack_bot_token": "xoxb-1", "openai_base_url": "http://127.0.0.1/v1"}
    settings = load_settings(tmp_path / ".env", Role.WORKER, **given)
    assert (settings.judge_model, settings.judge_escalate_to) == ("bigger", None)


async def test_worse_judge_is_not_adopted(replay: Replay, tmp_path: Path, model_server: ModelServer) -> None:
    def the_other_way_round(request: dict[str, Any]) -> Reply:
        return str(digit(request)).translate(str.maketrans("01234", "43210"))

    model_server.script(the_other_way_round)

    code, out, _ = await replay("--samples", "1", "--only", "labelled", "--adopt")

    assert code == 1
    assert re.search(
        r"Not enough to say that the new judge is at least as good: "
        r"its kappa may be lower by 1\.\d\d, and 0\.10 would be allowed\.",
        out,
    )
    assert "Not adopted: its kappa" in out
    assert "Changed most: case 10 from 5 to 0, people 4; case 20 from 5 to 0, people 4;" in out
    assert not (tmp_path / ".env").exists()


async def test_judge_with_few_labels_is_not_adopted(replay: Replay) -> None:
    code, out, _ = await replay("--samples", "1", "--limit", "10", "--adopt")

    assert code == 1
    assert re.search(r"Not adopted: only \d+ of these cases have a label; at least 20 are needed\.", out)


async def test_judge_that_leaves_many_cases_without_a_score_is_not_adopted(
    replay: Replay, model_server: ModelServer
) -> None:
    def shy(request: dict[str, Any]) -> Reply:
        return "I would rather not." if "It is 0." in request["messages"][-1]["content"] else digit(request)

    model_server.script(shy)

    code, out, _ = await replay("--samples", "1", "--only", "labelled", "--adopt")

    assert code == 1
    assert "Not adopted: of 30 cases with a label it left 6 without a score." in out


async def test_setting_of_the_environment_is_said_instead_of_written(replay: Replay, tmp_path: Path) -> None:
    code, _, err = await replay("--samples", "1", "--only", "labelled", "--adopt", JUDGE_MODEL="bigger")

    assert code == 2
    assert "not adopted: the environment has JUDGE_MODEL, which overrides .env; set there JUDGE_MODEL=bigger" in err
    assert not (tmp_path / ".env").exists()


async def test_two_judge_versions_are_not_compared_as_one(replay: Replay, database_url: str) -> None:
    log = await Store.open(database_url)
    for number in range(CASES, CASES + 5):
        await add(log, number, 5, 0, 0, judge_version="another")
    await log.close()

    _, out, _ = await replay("--samples", "1")

    assert "40 of 40 cases" in out
    assert f"Before: {OLD}." in out


async def test_offline_rater_is_tried_without_slack_and_without_a_key(
    tmp_path: Path, database_url: str, environment: dict[str, str]
) -> None:
    env = {"PATH": environment["PATH"], "DATABASE_URL": database_url}

    code, out, err = await run("replay", env, tmp_path, "-o", "replay.jsonl", "--model", "offline")
    assert (code, err) == (0, "")
    assert "40 of 40 cases" in out.replace("\n", " ")

    code, _, err = await run("replay", env, tmp_path, "-o", "other.jsonl")
    assert code == 2
    assert "OPENAI_API_KEY" in err
    assert "SLACK" not in err


async def test_scores_that_no_judge_gave_are_named(replay: Replay, database_url: str) -> None:
    log = await Store.open(database_url)
    async with log.database.engine.begin() as connection:
        await connection.execute(update(cases).values(judge_version=None, model=MADE_UP))
    await log.close()

    _, out, _ = await replay("--samples", "1")

    assert out.startswith(f"Before: {MADE_UP}. Now: ")


async def test_of_a_reply_that_was_scored_twice_the_newest_is_replayed(replay: Replay, database_url: str) -> None:
    log = await Store.open(database_url)
    await add(log, CASES, 5, 0, message_ts="5.5")
    newest = await add(log, CASES + 1, 4, 0, message_ts="5.5", attempt=2)
    await log.close()

    _, out, _ = await replay("--samples", "1")

    assert "41 of 41 cases" in out
    assert f"case {newest} from 4 to 0" in out


async def test_random_replies_are_replayed_as_well(replay: Replay, database_url: str) -> None:
    log = await Store.open(database_url)
    drawn = await add(log, CASES, 5, 0, 0, source=CaseSource.WATCH, probability=0.2, message_ts="5.5")
    await log.close()

    _, out, _ = await replay("--samples", "1", "--only", "labelled")

    assert "31 of 31 cases" in out
    assert f"case {drawn} from 5 to 0" in out


async def test_unscored_and_failed_cases_are_counted(replay: Replay, model_server: ModelServer) -> None:
    def answer(request: dict[str, Any]) -> Reply:
        if "It is 0." in request["messages"][-1]["content"]:
            return "I would rather not."
        return Failure(400) if "It is 1." in request["messages"][-1]["content"] else digit(request)

    model_server.script(answer)
    code, out, err = await replay("--samples", "1")

    assert code == 1
    assert "32 of 40 cases" in out
    assert "8 unscored" in out
    assert "8 failed; run the same command to continue." in out
    assert "Mean score of 24 cases" in out
    assert err.startswith("case ")


async def test_log_without_texts_has_nothing_to_replay(replay: Replay, database_url: str, tmp_path: Path) -> None:
    empty = f"sqlite+aiosqlite:///{tmp_path / 'empty.db'}"
    await (await Store.open(empty)).close()

    code, out, err = await replay(DATABASE_URL=empty)

    assert (code, out) == (2, "")
    assert "no logged case has a score from 0 to 5 and its texts" in err


async def test_replay_with_a_stronger_model_goes_on_in_its_file_and_no_other(
    replay: Replay, model_server: ModelServer
) -> None:
    def in_doubt(request: dict[str, Any]) -> Reply:
        if request["model"] == "big":
            return digit(request)
        return Answer("score: 0\nBad.", more=("score: 5\nGood.",) if request.get("n", 1) > 1 else ())

    model_server.script(in_doubt)
    for options in (["--limit", "3"], ["--limit", "5"]):
        code, out, err = await replay(*options, JUDGE_ESCALATE_TO="big")
        assert (code, err) == (0, "")
        assert f"{options[-1]} of {options[-1]} cases" in out

    code, _, err = await replay("--limit", "7")

    assert code == 2
    assert "judged with escalation 'gpt-6-luna > big', and now it is None" in err.replace("\n", " ")


async def test_replay_says_what_is_wrong_in_its_own_words(replay: Replay, tmp_path: Path) -> None:
    _, _, err = await replay("--samples", "1", "--max-cost", "1")
    assert "so --max-cost cannot be kept; leave it out, and judge fewer cases." in err.replace("\n", " ")

    (tmp_path / "replay.jsonl").write_text("notes\n")
    _, _, err = await replay()
    assert "replay.jsonl: not a file of verdicts to go on with; choose another output." in err.replace("\n", " ")


async def test_replay_that_goes_on_compares_what_the_log_has_by_then(replay: Replay, database_url: str) -> None:
    await replay("--samples", "1", "--only", "labelled")
    log = await Store.open(database_url)
    async with log.database.engine.begin() as connection:
        await connection.exec_driver_sql("DELETE FROM cases WHERE id = 2")
        await connection.exec_driver_sql("UPDATE labels SET score = 0")
    await log.close()

    code, out, _ = await replay("--samples", "1", "--only", "labelled")

    assert code == 0
    assert "29 of 29 cases" in out
    assert "Changed most: case 4 from 4 to 3, people 0;" in out


async def test_replay_does_not_go_on_in_the_file_of_another_log(
    replay: Replay, database_url: str, model_server: ModelServer
) -> None:
    await replay("--samples", "1", "--limit", "3")
    log = await Store.open(database_url)
    async with log.database.engine.begin() as connection:
        await connection.exec_driver_sql("UPDATE cases SET score = 5 - score")
    await log.close()

    code, out, err = await replay("--samples", "1")

    assert (code, out) == (2, "")
    assert "is another one in this database; choose another output" in err.replace("\n", " ")
    assert len(model_server.requests) == 3


async def test_interrupted_replay_says_how_to_go_on(
    environment: dict[str, str], tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(Stall())
    command = await start("replay", environment, tmp_path, "-o", "replay.jsonl", "--samples", "1")
    await model_server.asked(1)
    command.send_signal(signal.SIGINT)
    _, err = await command.communicate()

    assert command.returncode == 130
    assert b"Traceback" not in err
    assert b"run the same command to continue" in err
