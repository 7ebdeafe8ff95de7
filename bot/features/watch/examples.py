"""What an alert of low scores says after its figures: their cause, two examples, and what can be
done.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from bot.domain.standing import Subject
from bot.features.watch import ids
from bot.features.watch.figures import LOW_FOR, main_cause
from bot.features.watch.pauses import pause_button
from bot.figures.lowest import LowList, folded, ids_of, low_blocks
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.messenger import drawn_from
from bot.slack.mrkdwn import clip
from bot.store.figures import LowCase, Place

EXAMPLES = 2
_LOOKED_AT = 500


class LowPart(NamedTuple):
    """The blocks of an alert after its figures, and the cases whose scores they tell."""

    blocks: Sequence[ui.Block] = ()
    told: Sequence[int] = ()


async def read_low_part(
    services: Services, subject: Subject, place: Place, shown_in: Collection[str]
) -> LowPart:
    """That of the low replies of a place, with examples from these of its channels."""
    now = services.clock()
    which = LowList(subject.channel_id, now - LOW_FOR, now, subject.author_id)
    low = await services.store.tallies.low(place, which.span, _LOOKED_AT, False)
    name = await services.members.name_of(subject.author_id)
    examples = folded(case for case in low if case.channel_id in shown_in)[:EXAMPLES]
    marked_in = min(shown_in, default=place.channel_id)
    blocks = [
        *cause_blocks(low),
        *example_blocks(examples, name, services.identity.url),
        _buttons(services, subject, which, marked_in, name),
    ]
    return LowPart(blocks, ids_of(examples))


def _buttons(
    services: Services, subject: Subject, which: LowList, marked_in: str, name: str
) -> ui.Block:
    """What can be done about low replies; a release is marked in the channel `marked_in`."""
    see_all = [button | {"text": ui.plain("See all")} for button in services.low_button(which)]
    release = ui.button("Mark a release", ids.ACTION_RELEASE, f"{marked_in}:{subject.author_id}")
    buttons = (*see_all, release, pause_button(subject))
    return ui.actions(*(ui.spoken(button, name) for button in buttons))


def cause_blocks(low: Sequence[LowCase]) -> list[ui.Block]:
    """The most frequent cause of the low replies, if it is known of several."""
    cause = main_cause(Counter(case.cause for case in low))
    if not cause:
        return []
    ids_with_it = [case.id for case in low if case.cause == cause]
    number = f"{len(ids_with_it)} of {len(low)} low replies in the last {LOW_FOR.days} days"
    said = f"Most often: *{clip(cause)}* ({number})"
    return [drawn_from(ids_with_it, ui.section(said))]


def example_blocks(examples: Sequence[LowCase], name: str, workspace_url: str) -> list[ui.Block]:
    listed = low_blocks(examples, [name] * len(examples), workspace_url)
    return [ui.section("*For example*"), *listed] if listed else []
