"""The words on releases: marked, compared, taken back, and listed."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from bot.domain.standing import Standing
from bot.features.watch import ids
from bot.features.watch.queries import Release
from bot.features.watch.standing_text import channels_words, day_words, headline
from bot.slack import blocks as ui
from bot.slack.messenger import Post, to_post
from bot.slack.mrkdwn import clip
from bot.store.watches import JUDGE

COMPARED_FOR = timedelta(days=28)
"""So long after a release its scores are compared, whatever there is."""
GIVEN_UP = 2 * COMPARED_FOR
"""The app was down for so long that nobody waits for the effect any more."""
NOTE_LENGTH = 200
NO_NUMBER = "Type its number, as in `/judge release undo 7`. `/judge release list` lists them."
NO_RELEASE = "There is no such release in this channel. `/judge release list` lists them."
_TITLE = "Mark a release"
_MOST_LISTED = 10
_USAGE = (
    "`/judge release @helper new prompt` marks one as of now, *Mark a release* below `/judge watch` "
    "also an earlier day's; `/judge release undo 7` takes one back."
)
NO_DAY = "Choose a day of the last four weeks."


class ReleaseState(ui.ModalState):
    """What the window remembers; `told_at` is the channel in which it was opened."""

    author_id: str | None = None
    told_at: str | None = None


def release_modal(
    state: ReleaseState,
    name: str,
    channel_ids: Sequence[str],
    running: Sequence[Release],
    today: date,
) -> dict[str, Any]:
    note = ui.text_box(ids.BLOCK_NOTE, NOTE_LENGTH, None, "new prompt") | {"multiline": False}
    day = {"type": "datepicker", "action_id": ids.BLOCK_DAY, "initial_date": today.isoformat()}
    blocks = [
        ui.section(f"A change of *{clip(name)}* in {channels_words(channel_ids)}."),
        *[ui.section(ends_running(running))] * bool(running),
        ui.field("Since", day),
        ui.field("What has changed", note, is_optional=True),
    ]
    return ui.modal(ids.VIEW_RELEASE, _TITLE, state, blocks, "Mark", "Cancel")


def said_modal(text: str) -> dict[str, Any]:
    return ui.page(_TITLE, [ui.section(text)])


def ends_running(running: Sequence[Release]) -> str:
    days = " and ".join(dict.fromkeys(day_words(release.day) for release in running))
    return f"The release of {days} is being compared; another mark ends that with what it has."


def marked(
    release: Release,
    name: str,
    channel_id: str,
    channel_ids: Sequence[str],
    running: Sequence[Release],
    when: str,
) -> Post:
    """What the person who marks a release is told."""
    note = f" “{clip(release.note)}”" if release.note else ""
    lines = [
        f"The release{note} of *{clip(name)}* is marked in {channels_words(channel_ids)}. {when}"
    ]
    if running:
        lines.append(ends_running(running).replace("another mark", "this mark"))
    return _with_undo("\n".join(lines), release, channel_id)


def when_compared(clear_on: date | None, release: Release, share: float) -> str:
    """When it will be known what a release has changed: half a point on a day, if that takes at
    most four weeks.
    """
    if clear_on:
        return f"At this pace I tell what has changed on about {day_words(clear_on)}."
    more = "; with more of its replies scored, it may be" if share < 1 else ""
    return (
        f"At this pace a change of half a point will not be clear within four weeks{more}. I tell "
        f"what is known on {day_words(release.day + COMPARED_FOR)}."
    )


def mark_notice(release: Release, name: str, channel_id: str, channel_ids: Sequence[str]) -> Post:
    """What those are told who hear of the watch.

    Without the note: a message would keep a person's words when they are forgotten.
    """
    what = f"{_who(release.set_by)} marked {_line(release, name)}"
    text = (
        f"{what}, in {channels_words(channel_ids)}. How its scores change is told. "
        "`/judge release list` there shows what people noted."
    )
    return _with_undo(text, release, channel_id)


def undone_notice(release: Release, name: str) -> Post:
    by = _who(release.taken_back_by or "")
    return to_post(f"{by} took back {_line(release, name)}, as if it had not been marked.")


def _with_undo(text: str, release: Release, channel_id: str) -> Post:
    undo = ui.button("Undo", ids.ACTION_UNDO_RELEASE, f"{channel_id}:{release.id}")
    return to_post(text, ui.actions(undo))


def _who(by: str) -> str:
    return f"`{by}`" if ":" in by else f"<@{by}>"


def listed(
    releases: Sequence[Release], names: Mapping[str, str], effects: Mapping[int, Standing]
) -> str:
    """The releases of a channel, and what they have changed as far as that is known."""
    lines = [
        f"• {_entry(release, names[release.author_id], effects.get(release.id))}"
        for release in releases[:_MOST_LISTED]
    ]
    nothing = "No release of a watched assistant is marked in this channel."
    return "\n".join([*(lines or [nothing]), _USAGE])


def _entry(release: Release, name: str, effect: Standing | None) -> str:
    if release.set_by == JUDGE:
        return f"{release_line(release, name)}, by asking it again"
    note = f"“{clip(release.note)}”, " if release.note else ""
    entry = f"{_line(release, name)}, {note}by {_who(release.set_by)}"
    return f"{entry}: {headline(effect, name)}" if effect else entry


def release_line(release: Release, name: str) -> str:
    """The release by its number: its note is a person's words, which a message would keep when they
    are forgotten.
    """
    if release.set_by == JUDGE:
        return f"change of the judge of {clip(name)}, {day_words(release.day)}"
    return _line(release, name)


def _line(release: Release, name: str) -> str:
    return f"release {release.id} of {clip(name)}, {day_words(release.day)}"
