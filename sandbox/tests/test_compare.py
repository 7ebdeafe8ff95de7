"""`pocket-slack compare`, with another pocket Slack in place of the real one."""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocket_slack import Message, Sandbox
from pocket_slack.__main__ import main
from pocket_slack.compare import Slack, Step, compare, to_lines
from pocket_slack.compare.calls import CallList, read_calls
from pocket_slack.errors import SandboxError
from sandbox.tests.conftest import MANIFEST, ONLY_A_HANG_S, connected_app

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
CHANNEL = "help"
Changes = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def calls(tmp_path: Path) -> CallList:
    """The list in the README, without what people do."""
    return CallList(calls=of_the_readme(tmp_path).calls)


def of_the_readme(folder: Path) -> CallList:
    (text,) = re.findall(r"```yaml\n(# calls\.yml\n.*?)```", README, re.DOTALL)
    file = folder / "calls.yml"
    file.write_text(text, encoding="utf-8")
    return read_calls(file)


async def compared(slack: Sandbox, calls: CallList, patience_s: float = 0.0) -> list[Step]:
    real = Slack(slack.api_url, slack.bot_token, slack.app_token, CHANNEL)
    return await compare(real, MANIFEST, calls, patience_s, 0)


def left(slack: Sandbox) -> list[Message]:
    """What the app has in the channel."""
    messages = slack.workspace.channel(CHANNEL).messages.values()
    return [message for message in messages if message.author is slack.workspace.bot]


def is_called(slack: Sandbox, method: str) -> bool:
    return any(call.data["method"] == method for call in slack.workspace.journal.of("call"))


async def test_calls_and_acts_are_equal_in_two_stand_ins_and_nothing_is_left(
    slack: Sandbox, tmp_path: Path
) -> None:
    ann = slack.person("ann")
    calls = of_the_readme(tmp_path)
    comparing = asyncio.create_task(compared(slack, calls, ONLY_A_HANG_S))
    await slack.until(lambda: is_called(slack, "files.completeUploadExternal"), ONLY_A_HANG_S)
    await slack.settled(ann.command(CHANNEL, "/echo", "hello"))
    steps = await comparing
    assert [(step.name, step.outcome) for step in steps] == [
        (name, "equal") for name in calls.names
    ]
    assert ann.view is not None
    assert left(slack) == []
    assert all(file.content is None for file in slack.workspace.files.values())


async def test_what_people_have_not_done_is_said(slack: Sandbox, tmp_path: Path) -> None:
    steps = await compared(slack, of_the_readme(tmp_path))
    assert [step.name for step in steps if step.outcome == "not done"] == ["command", "window"]


def without(*path: str) -> Changes:
    def change(body: dict[str, Any]) -> dict[str, Any]:
        place = body
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        return body

    return change


def put(name: str, value: Any) -> Changes:
    def change(body: dict[str, Any]) -> dict[str, Any]:
        body["channel"][name] = value
        return body

    return change


PLANTED: dict[str, tuple[Changes, str]] = {
    "missing": (without("channel", "topic"), "channel.topic: missing: object"),
    "another type": (put("name", 7), "channel.name: number, expected string"),
    "more": (put("new_of_slack", {"inner": 1}), "channel.new_of_slack: more: object"),
    "a name that may be a word": (put("Planted", "secret"), "channel.*: more: string"),
}


@pytest.mark.parametrize("which", PLANTED)
async def test_a_field_that_differs_is_named_without_its_content(
    slack: Sandbox, calls: CallList, which: str
) -> None:
    changes, expected = PLANTED[which]
    slack.fail("conversations.info", changes=changes)
    steps = await compared(slack, calls)
    different = {step.name: step.differences for step in steps if step.outcome == "different"}
    assert different == {"channel": (expected,)}
    report = "\n".join(to_lines(steps))
    assert expected in report
    secrets = [slack.workspace.channel(CHANNEL).id, slack.workspace.bot.id, "Planted", "secret"]
    assert [secret for secret in secrets if secret in report] == []


async def test_a_refusal_is_named_and_what_needs_its_answer_is_not_asked(
    slack: Sandbox, calls: CallList
) -> None:
    slack.fail("chat.postMessage", error="restricted_action")
    slack.fail("files.getUploadURLExternal", error="Planted xoxb-1")
    steps = await compared(slack, calls)
    different = {step.name: step.differences[0] for step in steps if step.outcome == "different"}
    assert different == {
        "post": "restricted_action, expected an answer",
        "reply": "not possible after what came before, expected an answer",
        "upload": "another error, expected an answer",
        "uploaded": "not possible after what came before, expected an answer",
        "file": "not possible after what came before, expected an answer",
    }


async def test_calls_beyond_the_limit_are_made_later(slack: Sandbox, calls: CallList) -> None:
    slack.fail("chat.postMessage", retry_after_s=0)
    steps = await compared(slack, calls)
    assert {step.outcome for step in steps} == {"equal"}


@pytest.mark.parametrize("method", ["chat.postMessage", "files.completeUploadExternal"])
async def test_an_interrupted_run_leaves_nothing(
    slack: Sandbox, calls: CallList, method: str
) -> None:
    """Not even what takes effect after the interruption."""
    held = asyncio.Event()
    slack.fail(method, held_until=held)
    comparing = asyncio.create_task(compared(slack, calls))
    await slack.until(
        lambda: any(fault.data["event"] == "met" for fault in slack.workspace.journal.of("fault")),
        ONLY_A_HANG_S,
    )
    comparing.cancel()
    await asyncio.wait({comparing}, timeout=0.2)  # a run that did not wait would be over
    held.set()
    with pytest.raises(asyncio.CancelledError):
        await comparing
    assert is_called(slack, method)
    assert left(slack) == []


async def test_a_post_whose_answer_is_lost_is_deleted(slack: Sandbox, calls: CallList) -> None:
    slack.fail("chat.postMessage", drop=True, is_applied=True)
    slack.fail("chat.delete", drop=True, times=3)
    with pytest.raises(SandboxError, match="the connection to Slack is lost at the step 'post'"):
        await compared(slack, calls)
    assert left(slack) == []


async def test_what_could_not_be_deleted_goes_with_the_next_run(
    slack: Sandbox, calls: CallList
) -> None:
    slack.fail("chat.delete", error="internal_error", times=15)
    with pytest.raises(SandboxError, match="not everything that was posted could be deleted"):
        await compared(slack, calls)
    assert len(left(slack)) > 1
    await compared(slack, calls)
    assert left(slack) == []


async def test_a_running_app_is_not_disturbed(slack: Sandbox, calls: CallList) -> None:
    async with connected_app(slack):
        with pytest.raises(SandboxError, match="another process of this app is connected"):
            await compared(slack, calls)
    assert not is_called(slack, "chat.postMessage")


async def test_a_channel_without_the_app_is_refused(slack: Sandbox, calls: CallList) -> None:
    real = Slack(slack.api_url, slack.bot_token, slack.app_token, "#random")
    with pytest.raises(SandboxError, match="--channel random: the app is in no public channel"):
        await compare(real, MANIFEST, calls)


async def test_the_command_reads_the_tokens_and_fails_if_something_differs(
    slack: Sandbox,
    calls: CallList,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    (tmp_path / "calls.yml").write_text(calls.model_dump_json())
    options = ["--manifest", "manifest.json", "--calls", "calls.yml", "--channel", CHANNEL]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["pocket-slack", "compare", *options])
    monkeypatch.delenv("SLACK_BOT_TOKEN", raising=False)
    assert await asyncio.to_thread(main) == 2
    assert "SLACK_BOT_TOKEN is not set" in capsys.readouterr().err
    monkeypatch.setenv("SLACK_API_URL", slack.api_url)
    monkeypatch.setenv("SLACK_BOT_TOKEN", slack.bot_token)
    monkeypatch.setenv("SLACK_APP_TOKEN", slack.app_token)
    assert await asyncio.to_thread(main) == 0
    assert "as in pocket-slack, 0 different, 0 not done" in capsys.readouterr().out
    slack.fail("conversations.info", changes=without("channel", "topic"))
    assert await asyncio.to_thread(main) == 1
