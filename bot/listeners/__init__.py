"""What Slack calls: one file for each feature, given only the services that it uses."""

from collections.abc import Sequence

from slack_bolt.async_app import AsyncApp

from bot.digest.poster import Poster
from bot.docket.completion import Completion
from bot.docket.lookup import Lookup
from bot.domain.case import Visibility
from bot.domain.limits import Limits
from bot.domain.policy import Policy
from bot.listeners import (
    alert_button,
    blind,
    buttons,
    command,
    details,
    errors,
    events,
    forget,
    home,
    installation,
    labels,
    mention,
    modals,
    reaction,
    recent,
    rubric,
    shortcut,
    watch_window,
    workflow,
)
from bot.listeners.alert_button import AlertButton
from bot.listeners.blind import LabelCommand
from bot.listeners.blind_window import BlindWindow
from bot.listeners.case_access import CaseAccess
from bot.listeners.choices import Choices
from bot.listeners.command import TypedRequests
from bot.listeners.digest import DigestCommand
from bot.listeners.event_intake import EventIntake
from bot.listeners.forget import ForgetCommand
from bot.listeners.home import HomeTab
from bot.listeners.intake import Intake
from bot.listeners.mention import Mentions
from bot.listeners.reaction import ReactionCommand, ScoreReactions
from bot.listeners.recent import RecentCases
from bot.listeners.rubric import RubricCommand, RubricDecision, RubricUse
from bot.listeners.rubric_window import RubricWindow
from bot.listeners.stats import StatsCommand
from bot.listeners.texts_modal import TextsModal
from bot.listeners.watch import WatchCommand
from bot.listeners.watch_checks import WatchChecks
from bot.listeners.watch_orders import WatchOrders
from bot.listeners.watch_window import WatchWindow
from bot.listeners.workflow import ScoreStep
from bot.rubrics.choice import RubricChoice
from bot.slack.access import Access
from bot.slack.client import Identity
from bot.slack.homes import Homes
from bot.slack.memberships import Memberships
from bot.slack.teller import Teller
from bot.store import Store
from bot.upkeep.forgetting import ForgettingUpkeep
from bot.watching.assistants import Assistants
from bot.watching.reactions import Reactions
from bot.watching.recent import RecentReplies
from bot.watching.telling import AlertTeller
from bot.watching.watcher import Watcher
from bot.weeks.home import HomeReader
from bot.weeks.own_cases import OwnCases
from bot.weeks.watches import WatchReader


def register(
    app: AsyncApp,
    *,
    identity: Identity,
    store: Store,
    teller: Teller,
    limits: Limits,
    policy: Policy,
    visibility: Visibility,
    rubrics: RubricChoice,
    models: Sequence[str],
    poster: Poster,
    access: Access,
    memberships: Memberships,
    homes: Homes,
    forgetting: ForgettingUpkeep,
    lookup: Lookup,
    watcher: Watcher,
    reactions: Reactions,
    assistants: Assistants,
    completion: Completion,
    recent_replies: RecentReplies,
    alerts: AlertTeller,
) -> None:
    """Connects every feature to the app.

    `visibility` is that of a request whose person has chosen none, `models` what a channel may choose for itself.
    """
    hosts = frozenset({identity.host})
    case_access = CaseAccess(store.cases, memberships)
    intake = Intake(store, limits, policy, poster.members, teller, identity.url)
    choices = Choices(store.people, rubrics, visibility)
    window = TextsModal(choices, teller)
    digests = DigestCommand(poster, access, teller)
    own_cases = OwnCases(memberships, poster.members)
    cases = RecentCases(store.recent, own_cases, teller, identity.url)
    forget_command = ForgetCommand(store.cases, forgetting, teller, store.recent, own_cases, hosts, identity.url)
    blind_window = BlindWindow(store.draws, memberships, policy, teller, rubrics, identity.url)
    reaction_command = ReactionCommand(reactions, store.digests, access, teller, identity.scopes)
    event_intake = EventIntake(intake, choices)
    watches = WatchReader(store, poster.members, memberships, poster.now)
    reader = HomeReader(store, poster.default, memberships, access, own_cases, poster.now)
    tab = HomeTab(reader, watches, blind_window, teller, identity.url, visibility)
    orders = WatchOrders(watcher, watches, store, poster.members, access, identity.scopes, poster.now)
    checks = WatchChecks(poster.members, memberships, identity.own_ids)
    to_watch = WatchWindow(orders, assistants, recent_replies, checks, rubrics, teller, tab, identity.url)
    rubric_window, rubric_use = RubricWindow(rubrics, access, teller), RubricUse(rubrics, models, store.channel_replays)
    answers = {
        "digest": digests.answer,
        "recent": cases.answer,
        "forget": forget_command.answer,
        "label": LabelCommand(blind_window, store.digests, access, teller).answer,
        "reaction": reaction_command.answer,
        "stats": StatsCommand(poster, memberships, teller).answer,
        "watch": WatchCommand(orders, to_watch, assistants, teller).answer,
        "rubric": RubricCommand(rubric_use, rubric_window, access, teller).answer,
    }
    installation.register(app, identity.team_id, homes, completion)
    command.register(app, TypedRequests(intake, choices, memberships, hosts), window, answers)
    shortcut.register(app, intake, choices, teller, identity.own_ids)
    workflow.register(app, ScoreStep(intake, choices, memberships, homes, completion, identity.host))
    mention.register(app, Mentions(event_intake, lookup, identity.own_ids), window)
    reaction.register(app, ScoreReactions(event_intake, lookup, identity.own_ids))
    modals.register(app, intake, choices, case_access)
    buttons.register(app, intake, choices, case_access, teller)
    details.register(app, store.cases, store.draws, case_access, teller)
    blind.register(app, blind_window, tab)
    labels.register(app, store.cases, store.labels, store.draws, case_access, teller)
    recent.register(app, cases)
    forget.register(app, forget_command)
    rubric.register(app, rubric_window, rubric_use, RubricDecision(rubric_use, access, teller), teller)
    home.register(app, tab, window, digests, store.people)
    watch_window.register(app, to_watch)
    alert_button.register(app, AlertButton(orders, alerts, teller))
    events.register(app)
    errors.register(app, teller, completion)
