"""`judge-bot mcp`: figures of a channel for an assistant, with the rules of the digest, and no
words of anybody.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from bot.domain.case import Visibility
from bot.domain.questions import Says, SeenMessage
from bot.domain.watch import Watch
from bot.store import Store
from bot.store.figures import to_ts
from bot.store.schema import labels
from bot.store.seen_messages import SeenMessages
from bot.store.standings import Standings
from judge.evaluation.standing import Direction
from tests.cases import add, url
from tests.patience import ONLY_A_HANG_S
from tests.programs import JUDGE_BOT

NOW = datetime.now(UTC)
AT = NOW - timedelta(
    days=1
)  # in C1's week, which ends in three days, but not in that of other channels
OTHERS = {"DIGEST_DAY": f"{NOW:%A}", "DIGEST_TIME": "00:00"}


async def fill(log: Store) -> None:
    from bot.features.watch.queries import WatchOrders
    from tests.features.watch.test_week_text import standing

    async def label(case: int, score: int, **changes: Any) -> None:
        key = {"team_id": "T1", "case_id": case, "user_id": "U9", "channel_id": "C1"}
        times = {"created_at": AT, "updated_at": AT}
        row = key | times | {"is_blind": True, "score": score} | changes
        await log.database.execute(insert(labels).values(row))

    await log.names.note("T1", "C1", "help-desk")
    await log.names.note("T1", "B1", "helper")
    for number, score in enumerate([1, 2, *[4] * 18]):
        at = AT + timedelta(minutes=number)
        (case,) = await add(log, at=at, score=score, response="SECRET", judge_version="m, v")
        await label(case, score)
    await label(1, 3, user_id="U8", is_blind=False)
    await add(log, at=AT, score=0, visibility=Visibility.ME)
    await add(log, 4, at=AT - timedelta(weeks=1), score=1, judge_version="m, v")
    watch = Watch("T1", "C1", "B1", AT, is_private=False)
    await WatchOrders(log.database).save(watch, "U9")
    await Standings(log.database).begin(standing(direction=Direction.LOWER, step=-2.4))
    ts = to_ts(NOW - timedelta(days=4))
    asked = SeenMessage("T1", "C1", ts, ts, "U2", False, Says.WORDS, mentions=("B1",))
    await SeenMessages(log.database).note(asked)
    await log.channels.save(
        "T1", "C1", "U9", digest_day=f"{NOW + timedelta(days=3):%A}".lower(), digest_time="09:00"
    )
    await add(log, at=AT, team_id="T2", channel_id="C2", score=3)
    (case, _) = await add(log, 2, at=NOW, team_id="T2", channel_id="C2", score=3)
    await label(case, 3, team_id="T2", channel_id="C2")


@pytest.mark.needs("watch")
async def test_tools_read_a_log(log: Store, tmp_path: Path) -> None:
    from mcp import Client  # which takes a second of each process that collects the tests
    from mcp.client.stdio import StdioServerParameters

    async def call(tool: str, channel: str = "C1") -> Any:
        result = await client.call_tool(tool, {"channel": channel})
        text = str(result.content[0].text)
        assert "SECRET" not in text
        found = result.structured_content or {}
        return (
            text.removeprefix(f"Error executing tool {tool}: ")
            if result.is_error
            else found.get("result", found)
        )

    await fill(log)
    env = {"DATABASE_URL": url(tmp_path), **OTHERS}
    parameters = StdioServerParameters(command=str(JUDGE_BOT), args=["mcp"], env=env, cwd=tmp_path)
    async with asyncio.timeout(ONLY_A_HANG_S), Client(parameters) as client:
        stats = await call("stats")
        assert (stats["scored"], stats["replies_by_score"]) == (20, {"1": 1, "2": 1, "4": 18})
        assert stats["mean"] == pytest.approx(79 / 24)
        (standing,) = stats["standings"]
        assert (standing["assistant"], standing["direction"]) == ("helper", "lower")
        outcomes = standing["outcomes"]
        assert (outcomes["questions"], outcomes["signs"]["without an answer"]) == (1, 1)
        assert stats["corrected_mean"][0] == pytest.approx((75 + 4) / 24)  # with the week before

        listed = await client.call_tool("channels", {})
        assert (listed.structured_content or {})["result"] == [
            {"channel": "C1", "name": "help-desk"},
            {"channel": "C2", "name": None},
        ]
        assert await call("stats", "#help-desk") == stats
        assert (await call("stats", "help")).startswith("channel 'help': no channel of that name")
        agreement = stats["agreement"]
        blind = agreement["blind"]
        assert (blind["n"], blind["within_one"][0], agreement["seen"]) == (20, 1, {"n": 1})

        other = await call("stats", "T2/C2")
        assert other["scored"] == 2
        few = {"mean", "replies_by_score", "corrected_mean"}  # too few for figures
        assert {other[name] for name in few} == {None}
        assert (await call("stats", "C7")).startswith("channel 'C7': no score there was visible")
