"""The messages and windows of watches, for `tests/screens.py`."""

from dataclasses import replace

from bot.features.watch import first_hour, release_text, text, window_text
from bot.features.watch.watcher import Watcher
from bot.slack.invocation import Invocation
from tests.cases import NOW
from tests.features.watch import test_watch_texts as its
from tests.stage import CHANNEL, Stage


def make(words: str) -> None:
    name = words[:200] or "x"
    channels = [f"C{number}" for number in range(7)]
    its.posts(name, words, channels)
    counted = [replace(each, name=name) for each in its.COUNTED] * (1 + len(words) % 10)
    for several in ([], counted):
        text.state(several)
    make_releases(words, name, channels)
    window_text.said_modal(words[:2900] or "x")
    names = its.MANY if len(words) > 200 else {"U149": name}
    people = ("C1", *(f"U{number}" for number in range(5)))
    set_otherwise = its.form(names, share=1 / 3, per_day=7, alerts_to=people, floor=2.5)
    for form in (its.form({}), set_otherwise):
        window_text.watch_modal(its.STATE, form)


def make_releases(words: str, name: str, channels: list[str]) -> None:
    """The texts on releases, and the window for a note."""
    by_person = replace(its.RELEASE, note=words[:200])
    by_deployment = replace(by_person, set_by="os:root", taken_back_by="U2", taken_back_at=NOW)
    when = release_text.when_compared(None, by_person, 0.05)
    for release in (by_person, by_deployment):
        release_text.marked(release, name, "C1", channels, [by_person], when)
        release_text.mark_notice(release, name, "C1", channels)
        release_text.undone_notice(release, name)
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
    watcher = Watcher(services)
    await first_hour._welcome(watcher, ann)
    await first_hour._welcome(watcher, replace(ann, channel_id=stage.ann.im))
