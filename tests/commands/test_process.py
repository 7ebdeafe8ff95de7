"""The real commands in processes of their own, with the environment that the README names."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession

from bot.app import running_bot
from bot.commands import screens
from bot.slack import ids
from tests.model_server import Answer, Failure, Held, ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment, pocket_slack, run, start
from tests.stage import CHANNEL, GOOD, SCORED, make_settings


async def test_a_process_that_is_cancelled_while_it_stops_waits_for_no_case(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(Held(asyncio.Event(), GOOD))

    async def leave_in_the_middle() -> None:
        async with (
            pocket_slack() as slack,
            running_bot(make_settings(slack, model_server, tmp_path), grace_s=3600),
        ):
            slack.person("ann").command(CHANNEL, ids.COMMAND, "What? | That.")
            await model_server.asked(1)
            # as of a second signal while the connection is being closed
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(leave_in_the_middle(), 60)


WRONG = {
    "SLACK_BOT_TOKEN": ("xoxb-wrong", "SLACK_BOT_TOKEN: Slack refuses it (invalid_auth)"),
    "SLACK_APP_TOKEN": ("xapp-wrong", "SLACK_APP_TOKEN: Slack refuses it (invalid_auth)"),
    "DATABASE_URL": ("sqlite+aiosqlite:////proc/log.db", "cannot be written"),
    "JUDGE_RUBRIC": ("no-such-rubric", "no-such-rubric"),
}


async def test_doctor_says_of_all_that_is_wrong_at_once_what_it_is(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async with pocket_slack() as slack:
        env = environment(slack, model_server, tmp_path)
        code, out, err = await run(
            "doctor", env | {name: value for name, (value, _) in WRONG.items()}, tmp_path
        )
        away = env | {"SLACK_API_URL": "http://127.0.0.1:1/api/"}
        code_away, out_away, _ = await run("doctor", away, tmp_path)
    assert [out.count(part) for _, part in WRONG.values()] == [1] * len(WRONG)
    assert "cannot be reached" in out_away
    assert (code, code_away, err) == (1, 1, "")


# What fails before it is connected, and after; each in a process of its own.
@pytest.mark.parametrize(
    "name", [pytest.param("SLACK_APP_TOKEN", marks=pytest.mark.slow), "DATABASE_URL"]
)
async def test_what_is_wrong_at_start_is_one_sentence(
    model_server: ModelServer, tmp_path: Path, name: str
) -> None:
    value, part = WRONG[name]
    async with pocket_slack() as slack:
        env = environment(slack, model_server, tmp_path) | {name: value}
        code, out, err = await run("serve", env, tmp_path)
    assert (code, (out + err).count(part), "Traceback" in out + err) == (2, 1, False)


async def test_doctor_finds_nothing_wrong_where_all_is_well(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    async with pocket_slack(validates=True) as slack:
        more = {
            "JUDGE_SAMPLES": "3",
            "RETENTION_DAYS": "90",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "me:s3cret@collector",
        }
        code, out, err = await run(
            "doctor", environment(slack, model_server, tmp_path) | more, tmp_path
        )
    assert code == 0
    assert not (tmp_path / "log.db").exists()
    assert "s3cret" not in out + err
    assert [line.split(":")[0] for line in out.splitlines()] == [
        "ok     settings are complete",
        "       texts      deleted after 90 days",
        "       scores     deleted after 90 days",
        "       sent to    127.0.0.1",
        "       scored in  all channels",
        "       replies of bots, and people (only the person who asked sees the score)",
        "ok     secrets",
        "ok     SLACK_BOT_TOKEN",
        "ok     SLACK_APP_TOKEN",
        "ok     DATABASE_URL",
        "ok     JUDGE_MODEL",
        "       Slack checks all messages and windows, which takes about a minute ...",
        f"ok     {(n := len(screens.load()))} of {n} messages and windows are accepted by Slack",
    ]
    assert len(model_server.requests) == 1


async def test_doctor_asks_each_model_that_may_judge(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(lambda request: Failure(404) if request["model"] == "big" else GOOD)
    async with pocket_slack() as slack:
        env = environment(slack, model_server, tmp_path) | {"JUDGE_MODELS": "large,big"}
        code, said, _ = await run("doctor", env, tmp_path)
        assert (code, "wrong  JUDGE_MODELS: " in said, "no model 'big'" in said) == (1, True, True)
        model_server.script(GOOD)
        code, said, _ = await run("doctor", env, tmp_path)
        assert code == 0
        assert "ok     JUDGE_MODELS: big scores with additive-5; a rating took 0." in said


async def test_doctor_says_what_the_server_refuses(
    model_server: ModelServer, tmp_path: Path
) -> None:
    refused = Failure(400, message="Unsupported parameter: 'reasoning_effort'")
    full_price = Answer(GOOD, service_tier="x")
    model_server.script(lambda request: refused if "reasoning_effort" in request else full_price)
    async with pocket_slack() as slack:
        env = environment(slack, model_server, tmp_path) | {
            "JUDGE_EFFORT": "low",
            "WATCH_TIER": "flex",
        }
        code, said, _ = await run("doctor", env, tmp_path)
    assert (code, "additive-5; Model 'gpt-6-luna' refuses JUDGE_EFFORT=low" in said) == (0, True)
    assert "ok     WATCH_TIER: " in said
    assert "was asked at tier 'flex' and answered at 'x'" in said


async def test_doctor_asks_for_no_app_token_in_http_mode(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(GOOD)
    async with pocket_slack() as slack:
        env = environment(slack, model_server, tmp_path)
        del env["SLACK_APP_TOKEN"]
        http = {"SERVE_HTTP": "true", "SLACK_SIGNING_SECRET": "secret"}
        code, said, _ = await run("doctor", env | http, tmp_path)
    assert (code, "SLACK_APP_TOKEN" in said) == (0, False)


@pytest.mark.slow
async def test_a_slack_that_fails_at_start_is_not_blamed_on_the_token(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async with pocket_slack() as slack:
        slack.fail("auth.test", status=500)
        code, _, err = await run("serve", environment(slack, model_server, tmp_path), tmp_path)
    assert (code, "SLACK_BOT_TOKEN" in err, "cannot answer now (Slack: HTTP 500)" in err) == (
        2,
        False,
        True,
    )


async def test_without_a_terminal_the_demo_shows_both_verdicts_and_ends(
    tmp_path: Path,
) -> None:
    code, out, err = await run("demo", {"PATH": os.environ["PATH"]}, tmp_path)
    assert code == 0, err
    assert "--page shows the page" in out
    assert (
        0 < out.index("a word counter, not a judge") < out.index(SCORED) < out.index("Score 1 of 5")
    )
    assert out.count("(offline rater, not a judge)") == 3
    assert out.count("3 messages") == 1
    assert max(len(line) for line in out.splitlines()) <= 80


@asynccontextmanager
async def demo_page(
    env: dict[str, str], folder: Path
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The demo with its page, as in a terminal, and what it says at first."""
    keyboard, terminal = os.openpty()
    unbuffered = env | {"PYTHONUNBUFFERED": "1"}
    demo = await start("demo", unbuffered, folder, "--port", "0", stdin=terminal)
    try:
        yield demo, (await demo.stdout.readuntil(b"Ctrl-C")).decode()
    finally:
        if demo.returncode is None:
            demo.kill()
        await demo.communicate()
        os.close(keyboard)
        os.close(terminal)


@pytest.mark.slow
@pytest.mark.parametrize("has_model", [False, True])
async def test_the_demo_gives_an_address_and_ends_when_interrupted(
    tmp_path: Path, *, has_model: bool
) -> None:
    env = {"PATH": os.environ["PATH"]} | ({"OPENAI_API_KEY": "sk-none"} if has_model else {})
    async with demo_page(env, tmp_path) as (demo, said):
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        async with ClientSession(address[0]) as page, page.get("/sandbox/state?as=ann") as state:
            seen = await state.text()
        assert ("a word counter, not a judge" in seen) is not has_model
        demo.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(demo.wait(), ONLY_A_HANG_S) == 0
