"""What all features say or do together, for one of them that asks."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Literal

from bot.domain.label import Reaction
from bot.domain.standing import ChangeByTopic, Standing, Subject
from bot.domain.watch import Watch
from bot.feature import Feature, Word
from bot.figures.lowest import LowList
from bot.slack.blocks import Block
from bot.slack.invocation import Invocation
from bot.slack.messenger import Post
from bot.store.figures import Place, Span


class AllFeatures:
    """The features of a workspace, which reach each other through what is here."""

    features: Sequence[Feature]

    async def questions_of(self, watch: Watch) -> str:
        said = [await each.questions_of(watch) for each in self.features if each.questions_of]
        return " ".join(said)

    async def release_lines(self, subject: Subject, release: date) -> Sequence[str]:
        """What other features say of an assistant before and since a release."""
        return [
            line
            for each in self.features
            if each.release_lines
            for line in await each.release_lines(subject, release)
        ]

    @property
    def requests_a_score(self) -> float:
        return sum(each.requests_a_score for each in self.features)

    async def change_by_topic(self, standing: Standing) -> ChangeByTopic:
        """What is known of the topics behind the change of a standing."""
        for each in self.features:
            if each.change_by_topic:
                return await each.change_by_topic(standing)
        return ChangeByTopic()

    async def alert(self, watch: Watch) -> Post | None:
        """The first alert that other features have for those whom a watch alerts."""
        for each in self.features:
            if each.alert and (post := await each.alert(watch)):
                return post
        return None

    def words(self) -> Mapping[str, Word]:
        return {word: answer for each in self.features for word, answer in each.words.items()}

    def meant(self) -> Mapping[str, str]:
        return {word: meant for each in self.features for word, meant in each.meant.items()}

    def help(self, which: Literal["help", "more_help"]) -> str:
        lines: list[str] = [getattr(each, which) for each in self.features]
        return "\n".join(line for line in lines if line)

    async def follows(self, reaction: Reaction) -> bool:
        return any([await each.follows(reaction) for each in self.features if each.follows])

    async def show_home(self, person: Invocation, note: str = "") -> None:
        """Shows a person their Home tab as it is now; `note` tells them the outcome of their click."""
        for each in self.features:
            if each.show_home:
                await each.show_home(person, note)

    async def show_low(self, person: Invocation, view_id: str, which: str, note: str = "") -> None:
        """Shows a person their window of low replies as it is now, with such a note."""
        for each in self.features:
            if each.show_low:
                await each.show_low(person, view_id, which, note)

    def low_button(self, which: LowList) -> Sequence[Block]:
        return [each.low_button(which) for each in self.features if each.low_button]

    async def sort_low(self, place: Place, span: Span) -> None:
        for each in self.features:
            if each.sort_low:
                await each.sort_low(place, span)

    async def post_weekly(self, place: Place, by: str) -> str:
        return " ".join(
            [await each.post_weekly(place, by) for each in self.features if each.post_weekly]
        )
