"""The texts about releases: marked, listed, and compared with the time before."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.numbers import number_of
from bot.domain.watch import Watch
from bot.features.watch import ids
from bot.features.watch.input import WatchState
from bot.features.watch.queries import Release
from bot.slack import blocks as ui
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip
from bot.store.watches import JUDGE
from judge.evaluation.drift import MIN_REFERENCE
from judge.evaluation.stats import Interval

_NAME, _MOST = 80, 10
_RELEASE_HELP = "`/judge release @helper new prompt` marks one, `/judge release undo 7` takes one back."
NO_RELEASE = f"There is no such release in this channel. `/judge release list` lists them. {_RELEASE_HELP}"


def releases(found: Sequence[tuple[Release, str]]) -> str:
    by = {each.set_by: f"`{each.set_by}`" if ":" in each.set_by else f"<@{each.set_by}>" for each, _ in found}
    by[JUDGE] = "asking it again"
    lines = [f"• {each.id}: {release_line(each, name)}, by {by[each.set_by]}" for each, name in found[:_MOST]]
    return "\n".join([*(lines or ["No release of a watched assistant is marked in this channel."]), _RELEASE_HELP])


def release_line(release: Release, name: str) -> str:
    if release.set_by == JUDGE:
        return f"change of the judge of {clip(name, _NAME)}, {ui.short_date(release.set_at)}"
    note = f" “{clip(release.note, _NAME)}”" if release.note else ""
    return f"release{note} of {clip(name, _NAME)}, {ui.short_date(release.set_at)}"


def release_modal(state: WatchState, name: str) -> ui.Block:
    said = ui.section(f"A change of *{clip(name, _NAME)}* in <#{state.channel_id}>, from now on.")
    note = ui.field("What changed", ui.text_box(ids.BLOCK_NOTE, _NAME, None, "new prompt"), is_optional=True)
    return ui.modal(ids.VIEW_RELEASE, "Mark a release", state, [said, note], "Mark", "Cancel")


def released(name: str, note: str, needed: int) -> str:
    what = f"The release “{clip(note, _NAME)}”" if note else "A release"
    return (
        f"{what} of {clip(name, _NAME)} is marked. Once {needed} replies from now on are scored, or in four weeks, you "
        "and those whom the watch alerts are told whether it got better. Alerts begin afresh: they need "
        f"{MIN_REFERENCE} new scores that are older than a week."
    )


def undone(number: str) -> str:
    return f"Release {number} is taken back, as if it had not been marked."


@dataclass(frozen=True)
class Compared:
    """The means since a release and, if known, before it, of how many replies; corrected by labels, or by none."""

    means: Sequence[Interval]
    replies: Sequence[int]
    change: Interval | None
    labelled: int


def release_compared(watch: Watch, name: str, release: Release, found: Compared, who: str) -> Post:
    """How the scores after a release compare with those of the same length of time before it."""
    change, (after, *before) = found.change, (f"{each.mean:.1f}" for each in found.means)
    where, was = f"*{clip(name, _NAME)}* in <#{watch.channel_id}>", f"mean {after}, was {''.join(before)}"
    by = f"Corrected by {number_of(found.labelled, 'blind label')}" if found.labelled else "By the judge alone"
    replies = number_of(found.replies[0], "random reply", "random replies")
    counts = f"{by}: {replies} since the {release_line(release, name)}"
    if change is None or change.low is None or change.high is None:
        what = f"{where} cannot be compared: mean {after} since its release, and too few scores before it"
    else:
        ends = sorted((abs(change.low), abs(change.high)))
        if change.is_clear:
            how, way = ("*better*", "up") if change.mean > 0 else ("*worse*", "down")
            what = f"{where} got {how} with its release: {was} ({way} {ends[0]:.1f} to {ends[1]:.1f})"
        else:
            moved = f"{change.low:+.1f} to {change.high:+.1f}"
            what = f"{where} has *not clearly changed* with its release: {was} ({moved})"
        counts += f"; {found.replies[1]:,} in the same time before"
    what = f"{what}.\n{who}".rstrip()
    return Post(what.replace("*", ""), [ui.section(what), ui.context(f"{counts}.")])
