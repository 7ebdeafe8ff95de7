"""Questions without an answer are told of after an hour."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from bot.domain.questions import Question
from bot.features.outcome import feature
from bot.features.outcome.alarm import is_alarming
from bot.store.schema import watches
from tests.features.outcome.listening import listening, noted
from tests.stage import CHANNEL, StageFactory, shown
from tests.tables import each

HOUR = 3600


def asked_at(*hours: float) -> list[Question]:
    times = [f"{1_795_000_000 + hour * HOUR:.6f}" for hour in hours]
    return [Question("C1", ts, ts, "U1", is_meant=True) for ts in times]


@each(
    ("hours", "asked", "expected"),
    [
        ((1, 1.5, 2), 100, True),
        ((1, 1.5, 2.1), 100, False),
        ((1, 5, 9), 9, True),
        ((1, 5, 9), 10, False),
        ((1, 1.1), 2, False),
    ],
)
def test_three_within_an_hour_or_a_third_of_the_day_alarm(
    hours: tuple[float, ...], asked: int, expected: bool
) -> None:
    assert is_alarming(asked_at(*hours), asked) == expected


@pytest.mark.needs("watch")
async def test_who_hears_of_the_watch_gets_links_to_the_questions_once(
    open_stage: StageFactory,
) -> None:
    from bot.features.watch.alerts import Alerts  # here: the feature can be deleted
    from tests.features.watch.watching import told

    stage = await listening(open_stage)
    await stage.log.database.execute(update(watches).values(alerts_to=[stage.ann.id]))
    for number in range(3):
        stage.ann.post(CHANNEL, f"<@{stage.helper.id}> Question {number}?")
    await noted(stage, 3)
    for minutes, messages in ((50, 0), (61, 1), (80, 1)):
        services = stage.services_at(timedelta(minutes=minutes))
        services.features = (feature(services),)  # on the same clock
        await Alerts(services).look()
        assert len(told(stage)) == messages
    (alert,) = told(stage)
    assert alert.text == "helper has not answered 3 of the day's 3 questions."
    assert shown(alert).count("|Question>") == 3
    assert "Question 0" not in shown(alert)
