"""What the listeners share: where cases go, and what is said about one that is there already."""

from dataclasses import dataclass

from bot.digest.poster import Poster
from bot.docket.budget import Budget
from bot.docket.settle import Docket
from bot.domain.case import Case, CaseStatus, LoggedCase, Visibility, text_hash
from bot.extract.payloads import Choice, Invocation
from bot.log import Log
from bot.log.people import People
from bot.slack.access import Access
from bot.slack.memberships import Memberships
from bot.slack.teller import Teller
from bot.upkeep.edits import Revision
from bot.upkeep.forgetting import Forgetting
from bot.views import messages
from bot.views.refusals import FOREIGN, refusal_text
from bot.weeks.home import HomeReader


class NoCaseError(LookupError):
    """A button or modal names a case that is not in the log, or no longer, or not for this person to see."""


@dataclass(frozen=True)
class Desk:
    """Takes cases in.

    Attributes:
        log: Where cases become durable.
        docket: What settles them.
        teller: What answers people.
        default: The rubric and visibility of a request that names neither.
        rubrics: The names of the rubrics to choose from.
        workspace_url: The workspace's address, where links to its messages begin.
        hosts: The workspace's addresses, as they stand in its message links.
        own_ids: The app's own user and bot id.
        budget: How much people may ask for.
        poster: Computes and posts digests.
        access: Who may see and change them.
        forgetting: Deletes cases.
        revision: Marks cases whose message was edited or deleted.
        people: What people have chosen for themselves.
        memberships: Which channels they are in.
        home: What their Home tab shows.
    """

    log: Log
    docket: Docket
    teller: Teller
    default: Choice
    rubrics: tuple[str, ...]
    workspace_url: str
    hosts: frozenset[str]
    own_ids: frozenset[str]
    budget: Budget
    poster: Poster
    access: Access
    forgetting: Forgetting
    revision: Revision
    people: People
    memberships: Memberships
    home: HomeReader

    async def choice(self, invocation: Invocation) -> Choice:
        """What this person's cases are judged by, and who sees them, where the request does not say."""
        own = await self.people.visibility(invocation.team_id, invocation.user_id)
        return Choice(self.default.rubric, own or self.default.visibility)

    async def choice_again(self, invocation: Invocation, earlier: LoggedCase) -> Choice:
        """The same for a case that repeats an earlier one: as they chose for themselves, and never more public."""
        own = await self.people.visibility(invocation.team_id, invocation.user_id)
        is_for_one = Visibility.ME in {own, earlier.visibility}
        return Choice(self.default.rubric, Visibility.ME if is_for_one else Visibility.THREAD)

    async def refusal(self, invocation: Invocation) -> str | None:
        """Why this person cannot have a case now, in one sentence; None where nothing is against it."""
        if invocation.is_foreign:
            return FOREIGN
        held = await self.budget.refusal(invocation.team_id, invocation.user_id)
        return refusal_text(held) if held else None

    async def known(self, invocation: Invocation, case_id: int | None) -> LoggedCase:
        """The case of a button or modal: the person's own, or one that they can see in a channel's thread.

        Raises:
            NoCaseError: There is none with this number that this person may know of.
            MembershipError: Slack does not say whether they may.
        """
        case = await self.log.find(invocation.team_id, case_id) if case_id is not None else None
        if case and case.requester_id == invocation.user_id:
            return case
        if case and not case.is_for_one and await self._sees(invocation, case.channel_id):
            return case
        raise NoCaseError(f"no case {case_id!r} for {invocation.user_id!r} in team {invocation.team_id!r}")

    async def _sees(self, invocation: Invocation, channel_id: str) -> bool:
        """Slack is asked, unless it has just brought a click from that channel."""
        if channel_id == invocation.channel_id:
            return True
        if channel_id == invocation.window_channel_id:
            return not await self.memberships.keeps_out(invocation.user_id, channel_id)
        return await self.memberships.includes(invocation.user_id, channel_id)

    async def readable(self, invocation: Invocation, case_id: int | None) -> LoggedCase:
        """The case of a button or modal that leads to its texts, or to its message as it is now.

        Those stay in the channel when its requester leaves.

        Raises:
            NoCaseError, MembershipError: As `known`, or the case is the person's own and they have left its channel.
        """
        case = await self.known(invocation, case_id)
        user_id = invocation.user_id
        is_own_elsewhere = case.requester_id == user_id and case.channel_id != invocation.channel_id
        if is_own_elsewhere and await self.memberships.keeps_out(user_id, case.channel_id):
            raise NoCaseError(f"case {case_id!r} is in a channel that {user_id!r} has left")
        return case

    async def take(self, case: Case) -> tuple[LoggedCase, bool]:
        """The case that this request comes to, durable, and whether it is new.

        A message that was scored before keeps its case, unless its text has changed since.
        """
        if case.message_ts:
            known = await self.log.latest(case)
            if known and not _is_edited(known, case):
                return known, False
            if known:
                case = case.model_copy(update=_next_attempt(case, known))
        return await self.add(case)

    async def add(self, case: Case) -> tuple[LoggedCase, bool]:
        """The case, durable, and whether it is new; an attempt that turned out to be another person's alone is theirs.

        A verdict that Slack did not let us post, and a case that waits for its question, are such.
        """
        while True:
            known, is_new = await self.log.add(case)
            if is_new or known.requester_id == case.requester_id or not known.is_for_one:
                return known, is_new
            case = case.model_copy(update=_next_attempt(case, known))

    async def proceed(self, case: LoggedCase, is_new: bool, invocation: Invocation) -> None:
        """Starts a new case; of a known one, shows the person how far it is."""
        if is_new:
            self.docket.start(case.id, invocation.trigger_id, case)
            return
        if case.status is CaseStatus.ASKED:
            # Looked for once more: the app may have been invited meanwhile.
            await self.log.reopen(case.id, invocation.response_url)
            self.docket.start(case.id, invocation.trigger_id)
            return
        verdict = await self.log.verdict(case.id)
        post = messages.known_verdict(case, verdict) if verdict else messages.in_progress(case)
        await self.teller.tell(invocation.recipient_at(case), post)


def _is_edited(known: LoggedCase, case: Case) -> bool:
    return case.response is not None and known.response_hash not in {None, text_hash(case.response)}


def _next_attempt(case: Case, known: LoggedCase) -> dict[str, object]:
    attempt = known.attempt + 1
    return {"attempt": attempt, "key": f"{case.key.rpartition(':')[0]}:{attempt}"}
