"""A release is compared by what came of questions, too."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.standing import subject_of
from bot.domain.week import Week
from bot.features.outcome import feature
from bot.store.figures import Place
from bot.store.seen_messages import SeenMessages
from tests.features.outcome.test_outcomes import START, a_message
from tests.stage import Stage, StageFactory, shown
from tests.watches import only


async def ask(stage: Stage, days_ago: float, *, is_answered: bool) -> None:
    watch = await only(stage)
    seconds = (datetime.now(UTC) - timedelta(days=days_ago)).timestamp() - START
    place = {"team_id": watch.team_id, "channel_id": watch.channel_id}
    seen = SeenMessages(stage.log.database)
    await seen.note(a_message(seconds, "U777", mentions=(watch.author_id,), **place))
    if is_answered:
        await seen.note(a_message(seconds + 60, watch.author_id, seconds, is_app=True, **place))


@pytest.mark.needs("watch")
async def test_what_a_release_has_changed_has_the_shares_of_outcomes(
    open_stage: StageFactory,
) -> None:
    from tests.features.watch.test_releases import compare, look, mark, scores
    from tests.features.watch.test_standings import worth
    from tests.features.watch.watching import say, told

    stage: Stage = await open_stage()
    await say(stage, "@helper all alert me")
    stage.model.script(worth())
    await mark(stage, 14)
    await scores(stage, 2, 4, release_ago=14)
    for number in range(12):
        await ask(stage, 20 + number / 9, is_answered=number < 6)
        await ask(stage, 8 + number / 9, is_answered=True)
    await ask(stage, 50, is_answered=True)
    await look(stage)
    await compare(stage)
    (effect,) = [each for each in told(stage, stage.ben) if "what release 1 has" in shown(each)]
    said = shown(effect)
    assert re.search("• not answered within a day: 0%, between .*; before 50%, between ", said)
    # Of a week that is over, its own four weeks are shown, as far back as all messages are kept.
    watch = await only(stage)
    place = Place(watch.team_id, watch.channel_id, watch.author_id)
    shows = feature(stage.services)
    for weeks_ago, number in ((2, 1), (6, 0)):
        until = datetime.now(UTC) - timedelta(weeks=weeks_ago)
        line = await shows.standing_line(subject_of(watch), until)
        assert line.count("12 questions in four weeks: 6 answered") == number
        week = Week.until(until, stage.services.schedule.zone)
        blocks = await shows.week_details(place, week, stage.services.members.of_all)
        assert str(blocks).count("of 12 questions of four weeks") == len(blocks) == number
