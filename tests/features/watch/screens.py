"""The messages and windows of watches, for `tests/screens.py`."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.domain.standing import Whose
from bot.features.watch import first_hour, news, standing_text, text, window_text
from bot.features.watch.asked_again import Asked
from bot.features.watch.queries import Release, watched
from bot.slack.invocation import Invocation
from bot.store.figures import Span
from judge.evaluation.stats import Interval
from tests.cases import NOW
from tests.features.watch import test_watch_texts as its
from tests.features.watch.watching import only, say, write_scores
from tests.stage import CHANNEL, Stage


def make(words: str) -> None:
    name = words[:200] or "x"
    watch = its.SET
    low = [
        replace(its.LOWEST[0], id=number, reason=words, response=words)
        for number in range(1 + len(words) % 3)
    ]
    counted = [replace(each, name=name) for each in its.COUNTED] * (1 + len(words) % 10)
    for several in ([], counted):
        text.state(several)
    text.begun(watch, name, words[:200])
    text.ask_to_end(watch, name, "")
    text.ended_by(watch, name, "U1")
    text.changed_by(watch, name, "U1")
    for standing in its.STANDINGS.values():
        standing_text.standing_alert(standing, name, ["C1"] * 7, low, its.URL)
    text.floor_alert(watch, name, Interval(2.5, 2.2, 2.8), low, its.URL)
    text.low_alert(watch, name, low, its.URL)
    text.silent_alert(watch, name, 3, timedelta(hours=6))
    text.new_judge_notice(watch, name, words[:200] or None)
    asked = Asked(Whose.JUDGE, n=50, judge=Interval(-0.4, -0.8, -0.1))
    for found in (asked, Asked(Whose.NOT_ASKED, words[:80])):
        standing_text.new_model_notice(watch, name, words[:80] or "m", "n", found)
    text.unread_alert(watch, name, its.UNREAD)
    text.gone_alert(watch, name, 1234)
    standing_text.test_alert(watch, name, NOW)
    release = Release(1, "B1", "U1", NOW, words[:200], 20)
    for change in (None, Interval(0.3, 0.04, 0.56), Interval(-0.4, -0.8, 0.0)):
        means = [Interval(3, 2, 4), Interval(4, 3, 5)]
        text.release_compared(watch, name, release, means, [12, 12], change, 12)
    window_text.said_modal(words[:2900] or "x")
    names = its.MANY if len(words) > 200 else {"U149": name}
    people = ("C1", *(f"U{number}" for number in range(5)))
    for form in (
        its.form({}),
        its.form(names, share=1 / 3, per_day=7, alerts_to=people, floor=2.5),
    ):
        for replies in (None, words[:200], [its.reply(words or "x")] * 5):
            window_text.watch_modal(its.STATE, form, replies, its.URL)


async def make_with_app(stage: Stage, words: str) -> None:
    """What needs the store and Slack: the first hour of a watch."""
    services = stage.services
    channel = stage.slack.workspace.channel(CHANNEL)
    assert services
    ann = Invocation(
        stage.slack.workspace.team_id, channel.id, stage.ann.id, "ann", is_foreign=False
    )
    stage.helper.post(CHANNEL, "Hello.", thread_ts=stage.ann.post(CHANNEL, "Hello?").ts)
    await first_hour._welcome(services, ann)
    await first_hour._welcome(services, replace(ann, channel_id=stage.ann.im))
    await say(stage, "@helper all alert me")
    earlier = datetime.now(UTC) - timedelta(days=1)
    watch = replace(await only(stage), since=earlier)
    await news.announce(services, watch, stage.ann.id)
    said = words.replace("{", "{{").replace("}", "}}")
    await write_scores(stage, [(1 / 24, 1, news.FIRST)], justification=said, response=said)
    scores = await services.store.tallies.in_order(watched(watch), Span(earlier, datetime.now(UTC)))
    await news._first(services, watch, scores)
