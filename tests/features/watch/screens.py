"""The messages and windows of watches, for `tests/screens.py`."""

from dataclasses import replace

from bot.domain.standing import Subject
from bot.features.watch import (
    examples,
    first_hour,
    news,
    pauses,
    release_text,
    standing_text,
    text,
    week_text,
    window_text,
)
from bot.features.watch.queries import Release
from bot.features.watch.retirements import retirement_notice
from bot.slack.blocks import actions, spoken
from bot.slack.invocation import Invocation
from bot.store.watches import JUDGE
from judge.evaluation.stats import Interval
from judge.scoring.model.retirement import Retirement
from tests.cases import NOW
from tests.features.watch import test_watch_texts as its
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
    text.begun(watch, name, "C1", words[:200])
    text.ask_to_end(watch, name)
    pauses.paused_notice("U1", NOW.date(), "C1:B1")
    text.ended_by(watch, name, "U1")
    text.changed_by(watch, name, "U1")
    causes = [replace(each, cause=words[:80] or None) for each in low * 2]
    button = actions(spoken(pauses.pause_button(Subject("T1", "C1", "B1")), name))
    low_part = [
        *examples.cause_blocks(causes),
        *examples.example_blocks(low, name, its.URL),
        button,
    ]
    for standing in its.STANDINGS.values():
        standing_text.standing_alert(standing, name, ["C1"] * 7, [its.SHARE], low_part)
        standing_text.new_judge_notice(
            replace(standing, version=words[:200] or None), name, ["C1"] * 7
        )
    text.floor_alert(watch, name, Interval(2.5, 2.2, 2.8), low_part)
    text.low_alert(watch, name, low, its.URL)
    text.silent_alert(watch, name, NOW, 3, words[:200])
    for replacement in ("", words[:80]):
        retirement_notice(Retirement(words[:80] or "m", NOW.date(), replacement))
    standing_text.new_model_notice(name, ["C1"] * 7, words[:80] or "m", "n")
    text.unread_alert(watch, name, its.UNREAD)
    text.gone_alert(watch, name, 1234)
    text.test_post(watch, name)
    order = replace(watch, channel_id="", except_in=("C2",), channels=("C1", "C3"))
    text.begun(order, name, "C1", words[:200])
    text.ask_to_end(order, name)
    news._first(watch, week_text.standing_lines(its.STANDINGS["became worse"], name))
    make_releases(words, name)
    window_text.said_modal(words[:2900] or "x")
    names = its.MANY if len(words) > 200 else {"U149": name}
    people = ("C1", *(f"U{number}" for number in range(5)))
    for form in (
        its.form({}),
        its.form(names, share=1 / 3, per_day=7, alerts_to=people, floor=2.5),
    ):
        window_text.watch_modal(its.STATE, form)


def make_releases(words: str, name: str) -> None:
    """The texts on releases, and the window for a note."""
    channels = [f"C{number}" for number in range(7)]
    by_person = Release(1, "T1", "", "B1", "U1", NOW, NOW.date(), words[:200])
    by_deployment = replace(by_person, set_by="os:root", taken_back_by="U2", taken_back_at=NOW)
    by_judge = replace(by_person, set_by=JUDGE)
    when = release_text.when_compared(None, by_person, 0.05)
    for release in (by_person, by_deployment):
        release_text.marked(release, name, "C1", channels, [by_person], when)
        release_text.mark_notice(release, name, "C1", channels)
        release_text.undone_notice(release, name)
    effect = next(iter(its.STANDINGS.values()))
    release_text.listed([by_person, by_deployment, by_judge] * 4, {"B1": name}, {1: effect})
    state = release_text.ReleaseState(channel_id="C1", author_id="B1", told_at="C1")
    release_text.release_modal(state, name, channels, [by_person], NOW.date())
    release_text.said_modal(words[:2900] or "x")


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
