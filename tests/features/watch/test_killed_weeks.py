"""Two weeks of a watched channel, played at speed: a real process with our clock, killed and left
dead for hours.

The replies that were drawn, scored and missed are compared with those posted, and a known drop must
be reported. The seed is CHAOS_SEED.
"""

import asyncio
import random
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.watch import LATE, ReplyOutcome, Watch
from bot.features.watch.reply_queries import draws
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from pocket_slack import Limits, ManualClock, Message, Sandbox, Workspace
from tests.forked import Forked
from tests.model_server import Decided, ModelServer
from tests.patience import ONLY_A_HANG_S
from tests.programs import environment
from tests.slow.test_kill import NO_LIMITS, ROUNDS, SEED
from tests.stage import CHANNEL

pytestmark = pytest.mark.slow

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 12
A_DAY = 80 if ROUNDS > 1 else 40  # replies, half of them drawn; `make chaos` plays more
WORST_DAY = 10  # from this day replies are worse: by one point, or by two if there are few
GOOD = {5: 4, 4: 4, 3: 2}  # scores with their weights
WORSE = {4: 4, 3: 4, 2: 2} if ROUNDS > 1 else {3: 4, 2: 4, 1: 2}
KILLS_A_DAY = 0.7
LONG_OUTAGE = (6, timedelta(hours=34))  # some replies are a day old when the bot is back


@dataclass
class Weeks:
    """A workspace and its bot, on one clock."""

    slack: Sandbox
    clock: ManualClock
    file: Path
    env: dict[str, str]
    move: int = 0
    process: Forked | None = None
    # The assistant's replies by ts, with the scores that they deserve.
    posted: dict[str, int] = field(default_factory=dict)

    def tell(self) -> None:
        """Sets the bot's clock to ours."""
        new = self.file.with_suffix(".next")
        new.write_text(f"{self.move} {self.clock.now()}")
        new.replace(self.file)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)

    def pass_on(self, to: datetime) -> None:
        self.clock.advance(max(to.timestamp() - self.clock.now(), 0))
        self.tell()

    async def watch(self, words: str) -> None:
        ann = self.slack.person("ann")
        await self.slack.settled(ann.command(CHANNEL, "/judge", f"watch @helper {words}"))
        await self.slack.until(lambda: ann.ephemerals(CHANNEL))

    async def ask_and_answer(self, at: datetime, score: int) -> None:
        """Posts a question, and its answer five seconds later; a running bot has received both when
        this returns.
        """
        number = len(self.posted)
        self.pass_on(at)
        parent = self.slack.person("ann").post(CHANNEL, f"Question {number}?")
        await self.are_heard()
        self.clock.advance(5)
        answer = self.slack.person("helper").post(
            CHANNEL, f"Answer {number}, worth {score}.", thread_ts=parent.ts
        )
        self.posted[answer.ts] = score
        await self.are_heard()

    async def are_heard(self) -> None:
        """Returns once the bot has received the latest posts; what a dead bot misses is sent again
        later.
        """
        if self.process:
            latest = self.slack.workspace.deliveries.latest()
            news = [each for each in latest if each.sent_at == self.clock.now()]
            await self.slack.until(lambda: all(each.is_over for each in news), ONLY_A_HANG_S)

    async def beat(self) -> None:
        """Returns once the bot has run its periodic jobs for the current time, or is dead."""
        assert self.process is not None
        self.move += 1
        self.tell()
        async with asyncio.timeout(ONLY_A_HANG_S):
            expected = f"{self.process.pid} {self.move}"
            while self.done() != expected and self.process.returncode is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def settle(self) -> None:
        """Returns once the bot has done all that is due."""
        await self.beat()
        assert self.process is not None
        async with asyncio.timeout(ONLY_A_HANG_S):
            while self.left():
                assert self.process.returncode is None, self.said()
                await asyncio.sleep(0.01)

    def done(self) -> str:
        done = self.file.with_suffix(".done")
        return done.read_text() if done.exists() else ""

    def rows(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(self.env["FILE"])) as log:
            return log.execute(query).fetchall()

    def left(self) -> int:
        """The number of cases that are not yet delivered."""
        return int(self.rows("SELECT count(*) FROM cases WHERE delivered_at IS NULL")[0][0])

    def said(self) -> str:
        return Path(self.env["ERRORS"]).read_text()[-3000:]

    async def start(self) -> None:
        self.tell()
        self.process = Forked(
            "tests.slow.hurried", str(self.file), env=self.env, output=Path(self.env["ERRORS"])
        )
        await self.slack.connected(timeout_s=ONLY_A_HANG_S)

    async def kill(self) -> None:
        if self.process and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
            await self.slack.until(lambda: not self.slack.sockets.open, ONLY_A_HANG_S)
        self.process = None


@asynccontextmanager
async def weeks(model: ModelServer, folder: Path, **settings: str) -> AsyncIterator[Weeks]:
    clock = ManualClock(MONDAY.timestamp())
    workspace = Workspace(load_manifest(parts=[MESSAGE_EVENTS]), clock=clock, limits=Limits.off())
    people = [workspace.add_user("ann"), workspace.add_bot("helper")]
    workspace.add_channel(CHANNEL, [*people, workspace.bot])
    async with Sandbox(workspace) as slack:
        env = environment(slack, model, folder) | NO_LIMITS | {"WATCH_BY": "events"} | settings
        env |= {"FILE": str(folder / "log.db"), "ERRORS": str(folder / "said.txt")}
        played = Weeks(slack, clock, folder / "clock", env)
        await played.start()
        try:
            yield played
        finally:
            await played.kill()


def worth(request: dict[str, Any]) -> str:
    """The score that the judged answer deserves."""
    found = re.findall(r"worth (\d)\.", str(request["messages"]))
    return f"score: {found[-1]}\nThat is what it is worth."


def decided(request: dict[str, Any]) -> Decided | str:
    """The same as a decision, or as the text that is asked for its reason."""
    if "questions" not in request:
        return worth(request)
    (deserved,) = re.findall(r"worth (\d)\.", str(request["input"]))
    return Decided({str(level): float(str(level) == deserved) for level in range(6)})


async def play(played: Weeks, chance: random.Random) -> datetime:
    """Plays all days, with kills; returns the end of the long outage."""
    dead_until = MONDAY
    outage_day, lasts = LONG_OUTAGE
    back_at = MONDAY + timedelta(days=outage_day, hours=10) + lasts
    for day in range(DAYS):
        weights = WORSE if day >= WORST_DAY else GOOD
        for number in range(A_DAY):
            at = MONDAY + timedelta(days=day, hours=8, minutes=number * 600 / A_DAY)
            if played.process is None and at >= dead_until:
                await played.start()
                await played.settle()
            await played.ask_and_answer(at, *chance.choices(list(weights), list(weights.values())))
            if day == outage_day and number == A_DAY // 5:
                dead_until = back_at
                await played.kill()
            if played.process is None:
                continue
            if number % 8 == 7:
                played.pass_on(at + timedelta(minutes=5))
                await played.settle()
            if chance.random() < KILLS_A_DAY / A_DAY:
                dead_until = at + timedelta(minutes=chance.randrange(120))
                await played.kill()
        played.pass_on(MONDAY + timedelta(days=day, hours=20))
        if played.process:
            await played.settle()
    if played.process is None:
        await played.start()
    await played.settle()
    await played.settle()
    return back_at


def alerts(played: Weeks) -> list[Message]:
    channel = played.slack.workspace.channel(CHANNEL)
    posts = [m for m in channel.messages.values() if m.author is played.slack.workspace.bot]
    return [m for m in posts if "are lower" in m.text]


async def test_two_weeks_are_scored_and_reported_as_they_were_posted(
    model_server: ModelServer, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    model_server.script(worth)
    # Without texts, the judge is not asked again: that takes seconds, in which this clock would
    # pass days.
    async with weeks(model_server, tmp_path, STORE_TEXT="none") as played:
        await played.watch("1 in 2 alert here")
        back_at = await play(played, chance)
        replies = dict(played.rows("SELECT ts, outcome FROM replies"))
        ((key,),) = played.rows("SELECT value FROM keys")
        cases = played.rows("SELECT message_ts, score, probability FROM cases")
        heard = [datetime.fromtimestamp(float(m.ts), UTC) for m in alerts(played)]
    workspace = played.slack.workspace
    watch = Watch(workspace.team_id, workspace.channel(CHANNEL).id, "", MONDAY, share=0.5)
    drawn = {ts for ts in played.posted if draws(watch, ts, bytes.fromhex(key))}
    assert replies.keys() == played.posted.keys()
    passed = {ts for ts, outcome in replies.items() if outcome == ReplyOutcome.PASSED}
    assert passed == played.posted.keys() - drawn
    missed = {ts for ts, outcome in replies.items() if outcome == ReplyOutcome.MISSED}
    late = (back_at - LATE).timestamp()
    killed_at = (MONDAY + timedelta(days=LONG_OUTAGE[0], hours=9)).timestamp()
    assert missed == {
        ts for ts in drawn if killed_at < float(ts) < late and replies[ts] != ReplyOutcome.TAKEN
    }
    assert missed
    assert sorted(cases) == sorted((ts, played.posted[ts], 0.5) for ts in drawn - missed)
    dropped = MONDAY + timedelta(days=WORST_DAY)
    assert [at for at in heard if at < dropped] == []
    assert len(heard) == 1
    assert heard[0] < dropped + timedelta(days=2)


async def test_kills_in_the_midst_of_a_watch_of_everything(
    model_server: ModelServer, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    kills = 6 * ROUNDS
    at_once = 12
    model_server.script(decided)
    async with weeks(model_server, tmp_path, JUDGE_ASK="decision", JUDGE_CONCURRENCY="3") as played:
        await played.watch("all")
        for hour in range(kills):
            for number in range(at_once):
                at = MONDAY + timedelta(hours=9 + hour, minutes=number)
                await played.ask_and_answer(at, chance.randrange(6))
            played.pass_on(at + timedelta(minutes=5))
            asked = len(model_server.requests)
            played.move += 1
            played.tell()
            await model_server.asked(asked + chance.randrange(1, at_once))
            await played.kill()
            await played.start()
            await played.settle()
        cases = played.rows("SELECT message_ts, score, input_tokens, points IS NOT NULL FROM cases")
        others = played.rows("SELECT (SELECT count(*) FROM ratings), (SELECT count(*) FROM spent)")
    low = {ts for ts, score in played.posted.items() if score <= 2}
    # Nothing is lost or doubled; a decision takes 700 tokens and the reason for a low score 400,
    # each counted once.
    expected = [(ts, score, 1100 if ts in low else 700, 1) for ts, score in played.posted.items()]
    assert sorted(cases) == sorted(expected)
    assert others == [(len(played.posted), 0)]
    again = len(model_server.requests) - len(cases) - len(low)
    assert 0 <= again <= kills * 3 * 2  # three cases at once, of two requests at most
