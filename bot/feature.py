"""What a feature may add to the app.

A feature is a package in `bot/features/` with a function `feature(services) -> Feature`, and a line
in `bot/app.py`. Features do not import each other, except for score, which every app has. They
reach each other through the fields of `Feature`.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

from slack_bolt.async_app import AsyncApp

from bot.domain.label import Reaction
from bot.domain.standing import ChangeByTopic, Standing, Subject
from bot.domain.watch import Watch
from bot.domain.week import Week
from bot.figures.lowest import LowList
from bot.pipeline.engine import JobHandler, PeriodicJob
from bot.slack.blocks import Block
from bot.slack.invocation import Invocation, Raw
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.store.figures import Place, Span

Word = Callable[[Invocation, str], Awaitable[Post | str]]
"""Answers a word after `/judge`, given who typed it and the text after it; only that person sees the answer.

The answer is empty if a window was opened instead.
"""

Named = Callable[[Sequence[str]], Awaitable[Mapping[str, Member]]]
"""Returns those of the authors with these ids whose names the channel may see."""

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
        help: Its lines in `/judge help`; all features together have at most nine.
        more_help: Its lines in `/judge help more`, which lists the rest.
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
        week_part: Its part at the top of a channel's digest and stats, whose first block is a
            section; a week is past once there was another digest.
        standing_line: Its line about an assistant up to a time, below its standing in a digest and
            stats; empty if it has none.
        questions_of: Which messages count as questions to a watched assistant, if that is not plain.
        release_lines: Its lines about an assistant before and since a release.
        change_by_topic: What the topics of questions tell of the change of a standing.
        requests_a_score: How many requests it makes besides for each score of a watch.
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
    week_part: Callable[[Place, Week, Named, bool], Awaitable[WeekPart]] | None = None
    standing_line: Callable[[Subject, datetime], Awaitable[str]] | None = None
    questions_of: Callable[[Watch], Awaitable[str]] | None = None
    release_lines: Callable[[Subject, date], Awaitable[Sequence[str]]] | None = None
    change_by_topic: Callable[[Standing], Awaitable[ChangeByTopic]] | None = None
    requests_a_score: float = 0
    week_details: Callable[[Place, Week, Named], Awaitable[Sequence[Block]]] | None = None
    low_button: Callable[[LowList], Block] | None = None
    show_low: Callable[[Invocation, str, str, str], Awaitable[None]] | None = None
    sort_low: Callable[[Place, Span], Awaitable[None]] | None = None
    preview: Callable[[str, str], Awaitable[None]] | None = None
    post_weekly: Callable[[Place, str], Awaitable[str]] | None = None
    release: Callable[[Place, str, str], Awaitable[str]] | None = None
