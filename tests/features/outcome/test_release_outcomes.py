"""A release is compared by what came of questions, too."""

from datetime import UTC, datetime, timedelta

from bot.domain.standing import subject_of
from bot.domain.week import Week
from bot.features.outcome import feature
from bot.store.figures import Place
from bot.store.seen_messages import SeenMessages
from tests.features.outcome.test_outcomes import START, a_message
from tests.features.watch.test_releases import compare, look, mark, scores
from tests.features.watch.test_standings import worth
from tests.features.watch.watching import only, say, told
from tests.stage import Stage, StageFactory, shown


async def ask(stage: Stage, days_ago: float, *, is_answered: bool) -> None:
    watch = await only(stage)
    at = datetime.now(UTC) - timedelta(days=days_ago)
    its = {"team_id": watch.team_id, "channel_id": watch.channel_id}
    seconds = at.timestamp() - START
    asked = a_message(seconds, "U777", mentions=(watch.author_id,), **its)
    seen = SeenMessages(stage.log.database)
    await seen.note(asked)
    if is_answered:
        await seen.note(a_message(seconds + 60, watch.author_id, seconds, is_app=True, **its))


async def test_what_a_release_has_changed_has_the_shares_of_outcomes(
    open_stage: StageFactory,
) -> None:
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
    lines = shown(effect).splitlines()
    (line,) = [line for line in lines if "not answered within a day" in line]
    assert line.startswith("• not answered within a day: 0%, between 0% and ")
    assert "; before 50%, between " in line
    # Of a week that is over, its own four weeks are shown, as far back as all messages are kept.
    watch = await only(stage)
    place = Place(watch.team_id, watch.channel_id, watch.author_id)
    schedule = stage.services.schedule
    shows = feature(stage.services)
    until = datetime.now(UTC) - timedelta(days=14)
    said = await shows.standing_line(subject_of(watch), until)
    assert said.startswith("12 questions in four weeks: 6 answered")
    long_ago = until - timedelta(weeks=4)
    assert await shows.standing_line(subject_of(watch), long_ago) == ""
    for weeks, number in ((0, 1), (4, 0)):
        week = Week.until(until - timedelta(weeks=weeks), schedule.zone)
        blocks = await shows.week_details(place, week, stage.services.members.of_all)
        assert str(blocks).count("of 12 questions of four weeks") == len(blocks) == number
