"""What came of questions, as the digest, stats and the Home tab say it."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from bot.domain.outcome import Outcomes, Question
from bot.features.outcome.text import outcome_line, waiting_blocks
from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.slack.members import Member
from bot.store.schema import seen_messages
from tests.cases import NOW
from tests.features.watch.watching import say, scored
from tests.gestures import home, stats
from tests.stage import CHANNEL, Stage, StageFactory, shown
from tests.texts import read

NONE = Outcomes(0, 0, 0, 0, 0, 0, None, None, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (NONE, ""),
        (
            Outcomes(
                questions=40,
                answered=36,
                unanswered=3,
                waiting=1,
                by_colleague=13,
                came_back=5,
                median=timedelta(seconds=20),
                slowest_tenth=timedelta(minutes=4),
                read=12,
                confirmed=9,
                thanked=3,
                contested=4,
                handed_over=2,
                went_quiet=6,
            ),
            "40 questions: 36 answered, half within 20 s, the slowest tenth after 4 min; 3 without "
            "an answer; 1 waiting. A colleague wrote in 13, 5 came back within a day, 9 confirmed, "
            "4 contested, 2 handed over, 6 went quiet.",
        ),
    ],
)
def test_outcomes_are_one_line(outcomes: Outcomes, expected: str) -> None:
    assert outcome_line(outcomes) == expected


def test_what_waits_has_links_the_longest_first() -> None:
    times = [NOW - timedelta(minutes=90 - 10 * number) for number in range(7)]
    questions = [
        Question("C1", f"{at.timestamp():.6f}", f"{at.timestamp():.6f}", "U1", is_meant=True)
        for at in times
    ]
    (block,) = waiting_blocks(
        {"U9": questions}, {"U9": Member("helper", is_bot=True)}, NOW, "https://acme.slack.com/"
    )
    lines = str(read([block])).splitlines()
    assert "*helper*: 7 questions without an answer" in lines[0]
    assert "2 h ago" in lines[1]
    assert "and 2 more" in lines[-1]


async def test_the_home_tab_and_stats_show_what_came_of_questions(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events"
    )
    await say(stage, "@helper all alert off")
    await scored(stage)
    stage.ann.post(CHANNEL, f"<@{stage.helper.id}> And now?")

    async def is_noted() -> bool:
        return len(await stage.log.database.values(select(seen_messages.c.ts))) == 3

    await stage.eventually(is_noted)
    shown_at_home = str(read((await home(stage)).body["blocks"]))
    assert "*helper*: 1 question without an answer" in shown_at_home
    assert "2 questions: 1 answered" in shown(await stats(stage, "@helper", 2))
