"""The replies whose scores the askers contradict: good ones that they contested, low ones that they
confirmed.
"""

from collections.abc import Sequence

from slack_bolt.async_app import AsyncApp

from bot.domain.standing import subject_of
from bot.domain.watch import is_channel
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.text import contradicted_line, contradicted_post
from bot.figures.lowest import low_blocks
from bot.figures.outcomes import ScoredReply
from bot.services import Services
from bot.slack.blocks import Block, button, section
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.messenger import Post
from bot.store.figures import Place

ACTION_CONTRADICTED = "list_contradicted_scores"
WORD = "contested"
_MOST = 5


class ContradictedLists:
    def __init__(self, services: Services, figures: OutcomeFigures) -> None:
        self._services = services
        self._figures = figures

    def register(self, app: AsyncApp) -> None:
        @on_click(app, ACTION_CONTRADICTED)
        async def show(person: Invocation, _: Raw) -> None:
            # As the answer to a word, which is shown anew once a button in it was pressed.
            said = await self._services.answer(person, f"{WORD} {person.value}")
            await self._services.messenger.answer(person.recipient, said)

    async def answer(self, person: Invocation, text: str) -> Post | str:
        """Answers `/judge contested`: this channel's list, or that of a button's channel and
        assistant.
        """
        channel_id, _, author_id = text.partition(" ")
        if not is_channel(channel_id):
            channel_id = person.channel_id
        refusal = await self._services.access.refusal(person, "scores", channel_id, is_change=False)
        if refusal:
            return refusal
        return await self._post(
            Place(person.team_id, channel_id, author_id or None), person.user_id
        )

    async def blocks(self, place: Place) -> list[Block]:
        """How many there are in a channel, of one assistant or of all, with a button that lists
        them.
        """
        found = await self._of(place)
        if not found:
            return []
        good = sum(reply.is_good for reply in found)
        line = section(contradicted_line(good, len(found) - good))
        value = f"{place.channel_id} {place.author_id or ''}"
        return [line | {"accessory": button("List them", ACTION_CONTRADICTED, value)}]

    async def _of(self, place: Place) -> Sequence[ScoredReply]:
        watches = await self._services.store.watches.of(place.team_id, place.channel_id)
        found = list[ScoredReply]()
        for watch in watches:
            if place.author_id in {None, watch.author_id}:
                report = await self._figures.of(subject_of(watch))
                found += report.contradicted
        return [reply for reply in found if reply.channel_id == place.channel_id]

    async def _post(self, place: Place, reader: str) -> Post:
        """The newest of each list. Their scores are told to the reader by this."""
        found = await self._of(place)
        lists = dict[str, Sequence[Block]]()
        for title, is_good in _TITLES.items():
            newest = sorted(reply.id for reply in found if reply.is_good == is_good)[-_MOST:]
            await self._services.store.assignments.note_told(place.team_id, newest, reader)
            replies = await self._services.store.tallies.low_among(place, newest)
            names = [
                await self._services.members.name_of(reply.author_id or "") for reply in replies
            ]
            lists[title] = low_blocks(replies, names, self._services.identity.url)
        return contradicted_post(lists)


_TITLES = {"Good scores, contested by the asker": True, "Low scores, confirmed by the asker": False}
