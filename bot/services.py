"""The parts of the app in one process, which every feature is given."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from bot.all_features import AllFeatures
from bot.domain.clock import Clock
from bot.domain.limits import Limits, Policy
from bot.domain.week import Schedule
from bot.feature import Feature
from bot.pipeline.case_access import CaseAccess
from bot.pipeline.fairness import with_choices
from bot.pipeline.intake import Intake
from bot.pipeline.judges import Judges, RubricChoice
from bot.pipeline.lookup import Lookup
from bot.pipeline.quoting import put_words
from bot.pipeline.requests import Requests
from bot.pipeline.retries import MODEL_PAUSES
from bot.pipeline.tracing import Tracing
from bot.settings import Settings
from bot.slack.client import Identity, RefusedCallError, SlackClient
from bot.slack.incoming import Traffic
from bot.slack.invocation import Invocation, Raw
from bot.slack.members import Access, Members, Memberships
from bot.slack.messages import ADDED, CHANGES, CHANNELS, REMOVED, to_reaction
from bot.slack.messenger import Messenger, Post, Posted
from bot.store import Store

_LONGEST_WORDS = 1000  # that a button remembers; its value has at most 2,000


@dataclass
class Services(AllFeatures):
    """The parts of the app in one process; every feature gets all of them.

    Workspaces have a client and an identity each, and what is made from these; they share the rest.
    """

    settings: Settings
    store: Store
    client: SlackClient
    identity: Identity
    limits: Limits
    rubrics: RubricChoice
    clock: Clock
    judges: Judges | None = None
    tracing: Tracing = Tracing()  # noqa: RUF009 - it has no state
    features: Sequence[Feature] = ()
    traffic: Traffic = field(default_factory=Traffic)
    model_pauses: Sequence[timedelta] = MODEL_PAUSES
    background: Callable[[], AbstractAsyncContextManager[None]] = (
        nullcontext  # a turn at the model after all cases
    )

    def __post_init__(self) -> None:
        settings = self.settings
        self.schedule = Schedule.parse(
            settings.digest_day, settings.digest_time, settings.digest_tz
        )
        self.policy = Policy(settings.channels_allowed, settings.channels_denied)
        self._reach_slack()
        self.requests = Requests(self.store, self.rubrics, settings.verdict_visibility, self.lookup)
        self.intake = Intake(
            self.store, self.limits, self.policy, self.messenger, self.lookup, self.identity.url
        )
        self.case_access = CaseAccess(self.store.cases, self.memberships, self.members)

    def _reach_slack(self) -> None:
        """Makes the parts that ask Slack about people, channels and messages, or write to them."""
        settings = self.settings
        client = self.client
        whose = self.identity
        self.messenger = Messenger(client, partial(put_words, self.store, client, whose.team_id))
        self.members = Members(client, whose.teams, settings.companies_allowed)
        self.memberships = Memberships(client, whose.teams)
        self.access = Access(
            client, whose.teams, settings.digest_by == "admins", settings.watch_by_admins
        )
        self.lookup = Lookup(
            client, whose.own_ids, self.members, scores_people=settings.score_people
        )

    async def takes(self, body: Raw) -> bool:
        """Whether this payload was an event of the workspace's channels; then it is stored, and is
        acknowledged.

        Slack sends every message and every reaction of every channel that the app is in. They are
        handled before Bolt sees them, because its own work on an event takes longer than all that
        the app does with nearly all of them.
        """
        event = body.get("event") or {}
        if event.get("type") in {ADDED, REMOVED}:
            reaction = to_reaction(body)
            if reaction is None or {reaction.user_id, reaction.author_id} & self.identity.own_ids:
                return True
            return all(
                [await each.on_reaction(reaction) for each in self.features if each.on_reaction]
            )
        is_change = event.get("subtype") in CHANGES
        if event.get("type") != "message" or not (
            is_change or event.get("channel_type") in CHANNELS
        ):
            return False
        handlers = [each.on_message for each in self.features if each.on_message]
        if event.get("subtype") == "message_deleted":
            # In turn: what the watch still notes of the message is there to be forgotten.
            for handle in handlers:
                await handle(body)
            return True
        # Together: while one feature waits, a later message must not overtake this one in the
        # others.
        await asyncio.gather(*(handle(body) for handle in handlers))
        return True

    async def answer(self, person: Invocation, text: str) -> Post | str:
        """The answer to a word after `/judge` and what follows, which only this person sees."""
        word, _, rest = text.partition(" ")
        said = await self.words()[word](person, rest)
        if isinstance(said, str):
            return said
        blocks = await with_choices(
            self.store, person.team_id, said.blocks, person.user_id, text[:_LONGEST_WORDS]
        )
        return replace(said, blocks=blocks)

    async def post_scores(
        self,
        team_id: str,
        to: str,
        post: Post,
        mark: Raw,
        case_ids: Collection[int],
        reader: str,
        found_ts: str | None = None,
    ) -> str:
        """Posts what shows these scores to a person or EVERYBODY, or completes it where it was
        found; returns its ts.

        They are told: this is noted before the post, so one whose answer is lost counts, unlike a
        refused one.
        """
        noted = await self.store.assignments.note_told(team_id, case_ids, reader)
        if found_ts:
            await self.messenger.put_words(Posted(to, found_ts), post)
            return found_ts
        try:
            return (await self.messenger.post(to, post, metadata=mark)).ts
        except RefusedCallError:
            await self.store.assignments.take_back(team_id, noted, reader)
            raise
