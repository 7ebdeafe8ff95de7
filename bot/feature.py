"""What every feature is given, and what it may add to the app.

A feature is a package in `bot/features/` with a function `feature(services) -> Feature`, and a line
in `bot/app.py`. Features do not import each other, except for score, which every app has. They
reach each other through the fields of `Feature`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Literal, NamedTuple

from slack_bolt.async_app import AsyncApp

from bot.domain.clock import Clock
from bot.domain.label import Reaction
from bot.domain.limits import Limits, Policy
from bot.domain.standing import Subject
from bot.domain.watch import Watch
from bot.domain.week import Schedule, Week
from bot.figures.lowest import LowList
from bot.pipeline.case_access import CaseAccess
from bot.pipeline.engine import JobHandler, PeriodicJob
from bot.pipeline.fairness import with_choices
from bot.pipeline.intake import Intake
from bot.pipeline.judges import Judges, RubricChoice
from bot.pipeline.lookup import Lookup
from bot.pipeline.quoting import put_words
from bot.pipeline.requests import Requests
from bot.pipeline.retries import MODEL_PAUSES
from bot.pipeline.tracing import Tracing
from bot.settings import Settings
from bot.slack.blocks import Block
from bot.slack.client import Identity, RefusedCallError, SlackClient
from bot.slack.incoming import Traffic
from bot.slack.invocation import Invocation, Raw
from bot.slack.members import Access, Member, Members, Memberships
from bot.slack.messages import ADDED, CHANGES, CHANNELS, REMOVED, to_reaction
from bot.slack.messenger import Messenger, Post, Posted
from bot.store import Store
from bot.store.figures import Place, Span

Word = Callable[[Invocation, str], Awaitable[Post | str]]
"""Answers a word after `/judge`, given who typed it and the text after it; only that person sees the answer.

The answer is empty if a window was opened instead.
"""

Named = Callable[[Sequence[str]], Awaitable[Mapping[str, Member]]]
"""Returns those of the authors with these ids whose names the channel may see."""

_LONGEST_WORDS = 1000  # that a button remembers; its value has at most 2,000

HomeBlocks = Callable[[Invocation], Awaitable[Sequence[Block]]]


class WeekPart(NamedTuple):
    """A feature's part at the top of a digest, and the assistants that it is about."""

    author_ids: frozenset[str]
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Feature:
    """What a feature adds to the app. Parts that it does not have stay empty.

    Attributes:
        register: Connects its listeners to Bolt.
        words: Its words after `/judge`.
        meant: Words that people try after `/judge`, and what it has for them.
        help: Its lines in `/judge help`, in channels; all features together have at most nine.
        more_help: Its lines in `/judge help more`, which lists the rest.
        direct_help: Its lines in direct messages with the app; eight at most.
        on_message: Receives every new or changed message of the app's channels, before Bolt does.
        on_read: Receives every message that the watch reads in a channel: the workspace and channel,
            the assistants that are watched there, and the message.
        alert: What those whom a watch alerts are to be told now, at most once a day.
        on_reaction: Receives every reaction there; if it returns False, the event goes on to Bolt's
            listeners.
        follows: Whether the feature records what people think of the message that a reaction is on.
        jobs: Its handler for each kind of job.
        periodic_jobs: Its jobs that run at each start and every minute.
        home_section: Its section at the top of a person's Home tab.
        home_waiting: What waits there for this person.
        home_settings: Its section in the window of their settings.
        show_home: Publishes a person's Home tab again, with a note on the outcome of their click.
        show_settings: Shows the window of a person's settings, with that id, as they are now.
        week_part: Its part at the top of a channel's digest and stats, whose first block is a
            section; as it was known at a time, by default now.
        standing_line: Its line about an assistant, below its standing in a digest and stats; empty
            if it has none.
        questions_of: Which messages count as questions to a watched assistant, if that is not plain.
        release_lines: Its lines about an assistant before and since a release.
        week_details: What it shows one person as details of a digest.
        low_button: The button that lists low replies for whoever presses it.
        show_low: Shows the window with such a list, by their ids, as it is now, with a note on the
            outcome of a click.
        sort_low: Sorts the low replies of a channel's assistant into causes.
        preview: Prints a channel's digest in the terminal, of a time such as `October`.
        post_weekly: Has a channel's digest posted from now on, for a person; says when the next one
            comes.
        release: Marks a release in a channel, given as after `/judge release`, by an operator;
            returns the answer.
    """

    register: Callable[[AsyncApp], None] | None = None
    words: Mapping[str, Word] = field(default_factory=dict)
    meant: Mapping[str, str] = field(default_factory=dict)
    help: str = ""
    more_help: str = ""
    direct_help: str = ""
    on_message: Callable[[Mapping[str, Any]], Awaitable[None]] | None = None
    on_read: Callable[[str, str, Collection[str], Raw], Awaitable[None]] | None = None
    alert: Callable[[Watch], Awaitable[Post | None]] | None = None
    on_reaction: Callable[[Reaction], Awaitable[bool]] | None = None
    follows: Callable[[Reaction], Awaitable[bool]] | None = None
    jobs: Mapping[str, JobHandler] = field(default_factory=dict)
    periodic_jobs: Sequence[PeriodicJob] = ()
    home_section: HomeBlocks | None = None
    home_waiting: HomeBlocks | None = None
    home_settings: HomeBlocks | None = None
    show_home: Callable[[Invocation, str], Awaitable[None]] | None = None
    show_settings: Callable[[Invocation, str, str], Awaitable[None]] | None = None
    week_part: Callable[[Place, Week, Named, datetime | None], Awaitable[WeekPart]] | None = None
    standing_line: Callable[[Subject], Awaitable[str]] | None = None
    questions_of: Callable[[Watch], Awaitable[str]] | None = None
    release_lines: Callable[[Subject, date], Awaitable[Sequence[str]]] | None = None
    week_details: Callable[[Place, Week, Named], Awaitable[Sequence[Block]]] | None = None
    low_button: Callable[[LowList], Block] | None = None
    show_low: Callable[[Invocation, str, str, str], Awaitable[None]] | None = None
    sort_low: Callable[[Place, Span], Awaitable[None]] | None = None
    preview: Callable[[str, str], Awaitable[None]] | None = None
    post_weekly: Callable[[Place, str], Awaitable[str]] | None = None
    release: Callable[[Place, str, str], Awaitable[str]] | None = None


@dataclass
class Services:
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
        client = self.client
        whose = self.identity
        self.schedule = Schedule.parse(
            settings.digest_day, settings.digest_time, settings.digest_tz
        )
        self.policy = Policy(settings.channels_allowed, settings.channels_denied)
        self.messenger = Messenger(client, partial(put_words, self.store, client, whose.team_id))
        self.members = Members(client, whose.teams, settings.companies_allowed)
        self.memberships = Memberships(client, whose.teams)
        self.access = Access(
            client, whose.teams, settings.digest_by == "admins", settings.watch_by_admins
        )
        self.lookup = Lookup(
            client, whose.own_ids, self.members, scores_people=settings.score_people
        )
        self.requests = Requests(self.store, self.rubrics, settings.verdict_visibility, self.lookup)
        self.intake = Intake(
            self.store, self.limits, self.policy, self.messenger, self.lookup, whose.url
        )
        self.case_access = CaseAccess(self.store.cases, self.memberships, self.members)

    async def takes(self, body: dict[str, Any]) -> bool:
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
        # Together: while one feature waits, a later message must not overtake this one in the
        # others.
        await asyncio.gather(*(each.on_message(body) for each in self.features if each.on_message))
        return True

    async def note_read(
        self, team_id: str, channel_id: str, assistants: Collection[str], raw: Raw
    ) -> None:
        """Gives a message of a watched channel to the features that want it."""
        for each in self.features:
            if each.on_read:
                await each.on_read(team_id, channel_id, assistants, raw)

    async def standing_lines(self, subject: Subject) -> Sequence[str]:
        """What other features say about an assistant, below its standing."""
        lines = [await each.standing_line(subject) for each in self.features if each.standing_line]
        return [line for line in lines if line]

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

    async def alert(self, watch: Watch) -> Post | None:
        """The first alert that other features have for those whom a watch alerts."""
        for each in self.features:
            if each.alert and (post := await each.alert(watch)):
                return post
        return None

    def words(self) -> Mapping[str, Word]:
        return {word: answer for each in self.features for word, answer in each.words.items()}

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

    def meant(self) -> Mapping[str, str]:
        return {word: meant for each in self.features for word, meant in each.meant.items()}

    def help(self, which: Literal["help", "more_help", "direct_help"]) -> str:
        lines: list[str] = [getattr(each, which) for each in self.features]
        return "\n".join(line for line in lines if line)

    async def follows(self, reaction: Reaction) -> bool:
        return any([await each.follows(reaction) for each in self.features if each.follows])

    async def post_scores(
        self,
        team_id: str,
        to: str,
        post: Post,
        mark: dict[str, Any],
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

    async def show_home(self, person: Invocation, note: str = "") -> None:
        """Shows a person their Home tab as it is now; `note` tells them the outcome of their click."""
        for each in self.features:
            if each.show_home:
                await each.show_home(person, note)

    async def show_settings(self, person: Invocation, view_id: str, note: str = "") -> None:
        """Shows the open window of a person's settings as they are now, with such a note."""
        for each in self.features:
            if each.show_settings:
                await each.show_settings(person, view_id, note)

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
