"""`judge-bot live` against the pocket Slack, which the report is compared with, and with planted
differences.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.commands import live
from bot.commands.live.report import Report
from bot.commands.live.steps import ALONE, WITH_PERSON
from bot.errors import BotError
from bot.slack import ids
from bot.slack.manifest import MINIMAL, load_manifest
from pocket_slack import Message, Person, Sandbox, Workspace
from tests.bot_command import run
from tests.model_server import Failure, ModelServer
from tests.patience import ONLY_A_HANG_S, UNHURRIED
from tests.stage import CHANNEL as HELP_DESK
from tests.stage import GOOD, Stage, make_settings

CHANNEL, BOT = "judge-test", "Slack Judge"
BASELINE = Path(live.__file__).with_name("pocket.json")
Changes = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox(a_workspace()) as opened:
        yield opened


def a_workspace(manifest: Mapping[str, Any] | None = None) -> Workspace:
    workspace = Workspace(
        manifest or load_manifest(parts=["files"]), limits=UNHURRIED, name="Planted"
    )
    workspace.add_channel(CHANNEL, [workspace.add_user("ann", "Ann Planted"), workspace.bot])
    return workspace


def left(slack: Sandbox) -> list[Message]:
    """What there is in the channel."""
    return [*slack.workspace.channel(CHANNEL).messages.values()]


async def until_asked(slack: Sandbox) -> None:
    """Returns once the check waits for the person: it has shared its file, and the app is
    connected.
    """
    calls = slack.workspace.journal.of
    asked = "files.completeUploadExternal"
    await slack.until(
        lambda: slack.sockets.open and any(each.data["method"] == asked for each in calls("call")),
        ONLY_A_HANG_S,
    )


async def act(slack: Sandbox) -> None:
    """Ann does the six steps, once the app has done its own."""
    ann = slack.person("ann")
    await until_asked(slack)
    title = ann.messages(CHANNEL)[0]
    await slack.settled(ann.command(CHANNEL, ids.COMMAND, "Why planted? | Because planted."))
    await slack.until(lambda: button(ann), ONLY_A_HANG_S)
    await slack.settled(ann.click(button(ann), ids.ACTION_DETAILS))
    await slack.until(lambda: ann.view, ONLY_A_HANG_S)
    ann.close()
    await slack.settled(ann.command(CHANNEL, ids.COMMAND))
    await slack.until(lambda: ann.view, ONLY_A_HANG_S)
    await slack.settled(
        ann.submit({ids.BLOCK_QUESTION: "Why planted?", ids.BLOCK_RESPONSE: "Planted it is."})
    )
    await slack.settled(ann.shortcut(ids.SHORTCUT_SCORE_REPLY, title))
    ann.react(title, "tada")


def button(ann: Person) -> Any:
    return next(
        (each for each in ann.ephemerals(CHANNEL) if ids.ACTION_DETAILS in str(each.blocks)), None
    )


async def checked(
    slack: Sandbox, model: ModelServer, folder: Path, patience_s: float = 0.0, **given: Any
) -> Report:
    settings = make_settings(slack, model, folder, **given)
    return await live.check(settings, CHANNEL, folder / "live-report.json", patience_s, 0)


async def with_ann(slack: Sandbox, model: ModelServer, folder: Path, **given: Any) -> Report:
    async with asyncio.TaskGroup() as group:
        group.create_task(act(slack))
        return await checked(slack, model, folder, ONLY_A_HANG_S, **given)


def different(report: Report) -> dict[str, tuple[str, ...]]:
    return {step.step: step.differences for step in report.steps if step.outcome == "different"}


async def test_beside_the_pocket_slack_every_step_is_equal_and_nothing_is_left(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """`make texts` writes what the pocket Slack claims anew."""
    model_server.script(GOOD)
    report = await with_ann(slack, model_server, tmp_path)
    if request.config.getoption("update_snapshots", default=False):
        steps = [
            {"step": each.step, "why": each.why, "fields": each.fields} for each in report.steps
        ]
        about = {"day": "", "system": "pocket-slack", "slack_judge": "", "python": ""}
        claimed = re.sub(r"\bid \d+", "id", json.dumps(about | {"steps": steps}, indent=1))
        BASELINE.write_text(f"{claimed}\n", encoding="utf-8")
    assert [
        (each.step, each.outcome)
        for each in live.compared(report, live.reports.read(BASELINE)).steps
    ] == [(name, "equal") for name in (*ALONE, *WITH_PERSON)]
    assert left(slack) == []
    assert all(file.is_deleted for file in slack.workspace.files.values())


def without(*path: str) -> Changes:
    """An answer that lacks the field at the end of the path."""
    return put(*path, value=None, is_gone=True)


def put(*path: str, value: Any, is_gone: bool = False) -> Changes:
    def change(body: dict[str, Any]) -> dict[str, Any]:
        *above, name = path
        changed = json.loads(json.dumps(body))
        where = changed
        for each in above:
            where = where[each]
        if is_gone:
            del where[name]
        else:
            where[name] = value
        return changed  # type: ignore[no-any-return]

    return change


PLANTED = {
    "a field that is missing": (
        "conversations.info",
        without("channel", "topic"),
        "channel",
        "channel.topic: missing: object",
    ),
    "another type": (
        "chat.update",
        put("message", "text", value=7),
        "update",
        "message.text: number, expected string",
    ),
    "a further field": (
        "views.publish",
        put("view", "new_of_slack", value="secret"),
        "Home",
        "view.new_of_slack: more: string",
    ),
    "a field that the app needs": (
        "reactions.get",
        without("message"),
        "reaction",
        "message: missing: object",
    ),
}


@pytest.mark.parametrize("which", PLANTED)
async def test_a_planted_difference_is_named_and_nothing_else(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path, which: str
) -> None:
    method, changes, step, said = PLANTED[which]
    slack.fail(method, changes=changes)
    report = await checked(slack, model_server, tmp_path, judge_model="offline")
    prefix = "read." if step == "reaction" else ""
    assert different(report) == {step: (f"{prefix}{said}",)}
    assert f"{prefix}{said}" in (tmp_path / "live-report.html").read_text()


async def test_a_refused_block_and_a_field_that_the_app_needs_are_named(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path
) -> None:
    slack.fail("chat.postMessage", times=4)
    slack.fail("chat.postMessage", error="invalid_blocks")
    slack.fail("users.info", changes=without("user"))
    report = await checked(slack, model_server, tmp_path, judge_model="offline")
    assert different(report) == {
        "people and bots": ("the field user is missing",),
        "chart and table": ("invalid_blocks",),
    }


async def test_a_slow_answer_is_named(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path, let_pass: Callable[[float], None]
) -> None:
    def slow(body: dict[str, Any]) -> dict[str, Any]:
        let_pass(4)
        return body

    slack.fail("reactions.add", changes=slow)
    report = await checked(slack, model_server, tmp_path, judge_model="offline")
    ((step, (said,)),) = different(report).items()
    assert step == "reaction"
    assert re.fullmatch(r"took 4\.\d s", said)


async def test_the_report_has_no_word_id_token_or_address(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path
) -> None:
    """Also where Slack answers with a name as a field, or with words as an error."""
    model_server.script(GOOD)
    slack.fail(
        "conversations.info",
        changes=put("channel", "Planted U0PLANTED", value={"planted@example.com": 1}),
    )
    slack.fail("chat.postEphemeral", error="Planted xoxb-1")
    await with_ann(slack, model_server, tmp_path, judge_model="ft:tiny:planted::1")
    written = "".join(
        (tmp_path / f"live-report.{kind}").read_text().lower() for kind in ("json", "html")
    )
    workspace = slack.workspace
    secrets = [
        workspace.bot_token,
        workspace.app_token,
        workspace.team_id,
        workspace.app_id,
        workspace.domain,
    ]
    secrets += [
        *workspace.users,
        *workspace.channels,
        slack.person("ann").ws.name,
        workspace.bot.name,
        workspace.bot.bot_id,
    ]
    for secret in [
        *secrets,
        "planted",
        "because",
        "example.com",
        "http",
        "xox",
        "127.0.0.1",
        str(slack.port),
        CHANNEL,
    ]:
        assert str(secret).lower() not in written, secret
    assert "tiny" in written


LOST = (
    "chat.postMessage",
    "chat.update",
    "conversations.replies",
    "reactions.add",
    "files.completeUploadExternal",
)


@pytest.mark.parametrize(
    "method", [*LOST, "conversations.members", "chat.postEphemeral", "views.publish"]
)
async def test_interrupted_at_any_step_nothing_is_left(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path, method: str
) -> None:
    held = asyncio.Event()
    slack.fail(method, held_until=held)
    check = asyncio.create_task(checked(slack, model_server, tmp_path, judge_model="offline"))
    met = slack.workspace.journal.of
    await slack.until(
        lambda: any(each.data["event"] == "met" for each in met("fault")), ONLY_A_HANG_S
    )
    check.cancel()
    asyncio.get_running_loop().call_soon(held.set)  # the call is under way and takes effect later
    with pytest.raises(asyncio.CancelledError):
        await check
    assert left(slack) == []
    assert not (tmp_path / "live-report.json").exists()


async def test_a_post_that_takes_effect_only_after_the_interruption_is_deleted_too(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path
) -> None:
    held = asyncio.Event()
    slack.fail("chat.postMessage", held_until=held)
    check = asyncio.create_task(checked(slack, model_server, tmp_path, judge_model="offline"))
    met = slack.workspace.journal.of
    await slack.until(
        lambda: any(each.data["event"] == "met" for each in met("fault")), ONLY_A_HANG_S
    )
    check.cancel()
    await asyncio.wait({check}, timeout=0.2)  # a check that did not wait for the post would be over
    held.set()
    with pytest.raises(asyncio.CancelledError):
        await check
    await slack.until(
        lambda: any(each.data["method"] == "chat.postMessage" for each in met("call")),
        ONLY_A_HANG_S,
    )
    assert left(slack) == []


async def test_interrupted_while_it_waits_for_the_person_nothing_is_left(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path
) -> None:
    check = asyncio.create_task(
        checked(slack, model_server, tmp_path, ONLY_A_HANG_S, judge_model="offline")
    )
    ann = slack.person("ann")
    await until_asked(slack)
    ann.invite(CHANNEL, slack.workspace.add_user("ben").id)  # a notice, which has no thread
    await slack.settled(ann.command(CHANNEL, ids.COMMAND, "Why? | Because."))
    check.cancel()
    with pytest.raises(asyncio.CancelledError):
        await check
    assert [message for message in left(slack) if message.subtype is None] == []


@pytest.mark.parametrize("method", LOST)
async def test_the_network_is_lost_for_a_while_and_nothing_is_left(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path, method: str
) -> None:
    slack.fail(method, drop=True, is_applied=True, times=2)  # aiohttp repeats what only reads
    slack.fail("chat.delete", drop=True, times=3)
    with pytest.raises(BotError, match="the connection to Slack is lost at the step"):
        await checked(slack, model_server, tmp_path, judge_model="offline")
    assert left(slack) == []


async def test_what_an_earlier_check_could_not_delete_goes_with_the_next(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path
) -> None:
    slack.person("ann").post(CHANNEL, "stays")
    slack.fail("chat.delete", drop=True, times=15)
    with pytest.raises(BotError, match="could not be deleted"):
        await checked(slack, model_server, tmp_path, judge_model="offline")
    assert len(left(slack)) > 1
    await checked(slack, model_server, tmp_path, judge_model="offline")
    assert [message.text for message in left(slack)] == ["stays"]


async def test_without_the_right_to_read_the_known_posts_are_deleted(
    model_server: ModelServer, tmp_path: Path
) -> None:
    async with Sandbox(a_workspace(load_manifest(MINIMAL))) as slack:
        report = await checked(slack, model_server, tmp_path, judge_model="offline")
        assert {step.why for step in report.steps if step.outcome == "not possible"} == {
            "missing_scope",
            "not done",
        }
        assert left(slack) == []


def another_app(slack: Sandbox) -> None:
    slack.workspace.bot.app_id = "A0ANOTHER"


REFUSED: dict[str, tuple[Callable[[Sandbox], object], str]] = {
    "a channel that the app is not in": (
        lambda slack: slack.person("ann").remove(CHANNEL, BOT),
        "is in no channel of",
    ),
    "an archived channel": (
        lambda slack: slack.person("ann").archive(CHANNEL),
        "is in no channel of|archived",
    ),
    "a workspace that forbids the posts of apps": (
        lambda slack: slack.fail("chat.postMessage", error="restricted_action"),
        r"refuses a post there \(restricted_action\)",
    ),
    "a token of another app": (
        another_app,
        "SLACK_APP_TOKEN belongs to another app than SLACK_BOT_TOKEN",
    ),
}


@pytest.mark.parametrize("which", REFUSED)
async def test_what_stops_a_check_is_said_in_a_sentence_and_nothing_is_left(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path, which: str
) -> None:
    happens, said = REFUSED[which]
    happens(slack)
    with pytest.raises(BotError, match=said):
        await checked(slack, model_server, tmp_path, judge_model="offline")
    assert [message for message in left(slack) if message.subtype is None] == []


async def test_a_channel_given_by_its_id_must_have_the_app_in_it_too(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path
) -> None:
    channel_id = slack.workspace.channel(CHANNEL).id
    settings = make_settings(slack, model_server, tmp_path, judge_model="offline")
    for happens, said in (
        (slack.person("ann").remove, "not in the channel"),
        (slack.person("ann").archive, "archived"),
    ):
        happens(CHANNEL, *([BOT] if said.startswith("not") else []))
        with pytest.raises(BotError, match=said):
            await live.check(settings, channel_id, tmp_path / "live-report.json", 0, 0)
    assert [message for message in left(slack) if message.subtype is None] == []


async def test_the_model_is_asked_in_each_way_and_what_it_refuses_is_named(
    slack: Sandbox, model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(
        Failure(
            400, "unsupported_parameter", "Unsupported parameter: 'temperature'", "temperature"
        ),
        GOOD,
    )
    report = await checked(slack, model_server, tmp_path)
    by_way = {asked["asked for"]: asked for asked in report.models}
    assert list(by_way) == ["text", "distribution", "decision"]
    text = {name: by_way["text"][name] for name in ("score", "served", "refused", "USD")}
    assert text == {
        "score": "4",
        "served": "gpt-6-luna",
        "refused": "temperature",
        "USD": "not known",
    }
    assert int(by_way["text"]["tokens"]) > 0
    assert by_way["decision"]["score"] == "BadResponseError"


async def test_two_reports_are_compared_and_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    one, other, bad = (tmp_path / name for name in ("a.json", "b.json", "bad.json"))
    known = json.loads(BASELINE.read_text(encoding="utf-8"))
    one.write_text(json.dumps(known), encoding="utf-8")
    known["steps"][0]["fields"]["type"] = "number"
    del known["steps"][1]["fields"]["debug_info"]
    other.write_text(json.dumps(known), encoding="utf-8")
    _, said, _ = await run("judge-bot", ("live", "--compare", str(other), str(one)), {}, tmp_path)
    assert [line.strip() for line in said.splitlines() if not line.startswith("equal")] == [
        "different     connection",
        "type: number, expected string",
        "different     reconnection",
        "debug_info: missing: object",
    ]
    known["steps"][0]["step"] = "\x1b[2J<script>"
    other.write_text(json.dumps(known), encoding="utf-8")
    _, said, _ = await run("judge-bot", ("live", "--compare", str(other), str(one)), {}, tmp_path)
    assert said.splitlines()[-1] == "not possible  [2Jscript"
    assert said.splitlines()[-1] == "not possible  [2Jscript"
    bad.write_text("[]", encoding="utf-8")
    code, _, said = await run("judge-bot", ("live", "--compare", str(bad), str(one)), {}, tmp_path)
    assert (code, "cannot be read as a report of judge-bot live" in said) == (2, True)


async def test_a_running_app_is_not_disturbed(stage: Stage, tmp_path: Path) -> None:
    settings = make_settings(stage.slack, stage.model, tmp_path)
    with pytest.raises(BotError, match="another process of this app is connected"):
        await live.check(settings, HELP_DESK, tmp_path / "live-report.json", 0, 0)
    assert stage.ours() == []


async def test_it_needs_a_channel_and_asks_first(slack: Sandbox, tmp_path: Path) -> None:
    env = {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "SLACK_API_URL": slack.api_url,
    }
    env |= {"JUDGE_MODEL": "offline"}
    told = await run("judge-bot", ("live",), env, tmp_path)
    assert (told[0], "name a channel with --channel" in told[2]) == (2, True)
    told = await run("judge-bot", ("live", "--channel", CHANNEL), env, tmp_path)
    assert (told[0], "Post in judge-test and delete it afterwards?" in told[1] + told[2]) == (
        1,
        True,
    )
    assert slack.workspace.journal.of("call") == []
