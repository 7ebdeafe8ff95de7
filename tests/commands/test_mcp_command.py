"""`judge-bot mcp`: figures of a channel for an assistant, with the rules of the digest, and no words of anybody."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from bot.domain.case import Visibility
from bot.store import Store
from bot.store.schema import labels
from tests.cases import THURSDAY, add, url
from tests.patience import ONLY_A_HANG_S
from tests.programs import JUDGE_BOT, OPERATOR, with_log

WEEK, BEFORE = "2026-W47", "2026-W46"
SUNDAY = THURSDAY - timedelta(days=4, hours=1)  # already Monday on the clocks of Kiritimati


async def fill(log: Store) -> None:
    async def label(case: int, score: int, **changes: Any) -> None:
        key = {"team_id": "T1", "case_id": case, "user_id": "U9", "channel_id": "C1", "is_blind": True}
        row = key | {"score": score, "created_at": SUNDAY, "updated_at": SUNDAY} | changes
        await log.database.execute(insert(labels).values(row))

    for number, score in enumerate([1, 2, *[4] * 18]):
        at = SUNDAY + timedelta(minutes=number)
        (case,) = await add(log, at=at, score=score, response="SECRET", author_id=None, judge_version="m, v")
        await label(case, score)
    await label(1, 3, user_id="U8", is_blind=False)
    await add(log, at=SUNDAY, score=0, visibility=Visibility.ME)
    await add(log, 4, at=SUNDAY - timedelta(weeks=1), score=1, judge_version="m, v")
    (case, _) = await add(log, 2, at=SUNDAY, team_id="T2", channel_id="C2", score=3)
    await label(case, 3, team_id="T2", channel_id="C2")


async def test_tools_read_a_log(tmp_path: Path) -> None:
    from mcp import Client  # which takes a second of each process that collects the tests
    from mcp.client.stdio import StdioServerParameters

    async def call(tool: str, channel: str = "C1", week: str = WEEK) -> Any:
        result = await client.call_tool(tool, {"channel": channel, "week": week})
        text = str(result.content[0].text)
        assert "SECRET" not in text
        found = result.structured_content or {}
        return text.removeprefix(f"Error executing tool {tool}: ") if result.is_error else found.get("result", found)

    await with_log(url(tmp_path), fill)
    env = {"DATABASE_URL": url(tmp_path), "DIGEST_TZ": "Pacific/Kiritimati"}
    parameters = StdioServerParameters(command=str(JUDGE_BOT), args=["mcp"], env=env, cwd=tmp_path)
    async with asyncio.timeout(ONLY_A_HANG_S), Client(parameters) as client:
        stats = await call("stats")
        assert (stats["scored"], stats["replies_by_score"]) == (20, {"1": 1, "2": 1, "4": 18})
        assert (stats["share_up_to_2"], stats["mean"]) == (0.1, 3.75)
        assert stats["corrected_mean"][0] == pytest.approx((75 + 4) / 24)  # with the week before
        few = await call("stats", week=BEFORE)  # too few for figures, also in the trend of the week after
        assert few["scored"] == 4
        assert {few[name] for name in ("mean", "replies_by_score", "share_up_to_2", "change")} == {None}
        assert [each["mean"] for each in stats["trend"][-2:]] == [None, 3.75]

        listed = await client.call_tool("channels", {})
        assert (listed.structured_content or {})["result"] == [{"channel": each, "name": None} for each in ("C1", "C2")]
        assert "SLACK_BOT_TOKEN is not set" in await call("stats", "#help-desk")
        lowest = await call("lowest")
        assert [(each["case"], each["score"], each["message_ts"]) for each in lowest] == [(1, 1, "1.0"), (2, 2, "2.0")]
        assert [each["case"] for each in await call("recent")] == list(range(20, 0, -1))

        agreement = await call("agreement")
        assert (agreement["blind"]["n"], agreement["blind"]["exact"][0], agreement["seen"]) == (20, 1, {"n": 1})

        other = await call("stats", "T2/C2")
        assert (other["scored"], other["corrected_mean"]) == (2, None)
        assert (await call("stats", "C7")).startswith("channel 'C7': no score there was visible")
        for tool, week in (("recent", "last"), ("recent", "9999-W52"), ("stats", "0001-W01")):
            assert await call(tool, week=week) == f"week {week!r}: expected an ISO week such as 2026-W47"

    async def see(log: Store) -> None:
        noted = [(act.team_id, act.who, act.what, act.channel_id) for act in await log.audit.since()]
        assert noted == [("T1", OPERATOR, "exported_channel", "C1")] * 2  # lowest and recent, which list single replies

    await with_log(url(tmp_path), see)
