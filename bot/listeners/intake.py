"""Taking cases in, and what is said about one that is there already.

Whoever takes a case in makes it durable first, with the job that settles it, and acknowledges then.
"""

from dataclasses import dataclass

from bot.domain.case import Aside, Case, CaseStatus, LoggedCase, text_hash
from bot.domain.limits import Limits
from bot.domain.policy import Policy
from bot.domain.refusal import Refusal, RefusalKind, RefusedError
from bot.domain.standing import aside_of
from bot.extract.invocation import Invocation
from bot.slack.authors import Members
from bot.slack.teller import Teller
from bot.store import Store
from bot.views import messages
from bot.views.verdict import known_verdict


@dataclass(frozen=True)
class Intake:
    """Takes cases in.

    Attributes:
        store: Where cases become durable.
        limits: How much may be asked for.
        policy: Where, and of whose replies.
        members: Who is a bot.
        teller: What answers them.
        workspace_url: Where links to messages begin.
    """

    store: Store
    limits: Limits
    policy: Policy
    members: Members
    teller: Teller
    workspace_url: str

    async def take(self, case: Case, invocation: Invocation) -> tuple[LoggedCase, bool]:
        """The case that this request comes to, durable, and whether it is new.

        A message that was scored before keeps its case, unless its text has changed since.

        Raises:
            RefusedError: This person cannot have a case now.
        """
        if case.message_ts:
            known = await self.store.cases.latest(case)
            if known and not _is_edited(known, case):
                if known.status is CaseStatus.ASKED:
                    await self._check(known, invocation)
                return known, False
            if known:
                aside = await self.aside(invocation, known, has_typed=False)
                case = case.model_copy(update=_next_attempt(case, known) | {"aside": aside})
        return await self.add(case, invocation)

    async def add(self, case: Case, invocation: Invocation) -> tuple[LoggedCase, bool]:
        """The case, durable, and whether it is new; an attempt that turned out to be another person's alone is theirs.

        A verdict that Slack did not let us post is such, a case that waits for its question, and one that stands aside.

        Raises:
            RefusedError: This person cannot have a case now.
        """
        await self._check(case, invocation)
        while True:
            known, is_new = await self.store.add(case, invocation.trigger_id, self.limits, invocation.execution)
            is_of_no_use = known.is_for_one or (known.aside and not case.aside)
            if is_new or known.requester_id == case.requester_id or not is_of_no_use:
                return known, is_new
            case = case.model_copy(update=_next_attempt(case, known))

    def check_here(self, invocation: Invocation) -> None:
        """Looks whether messages may be scored for this person where they stand, before Slack is asked for any.

        Raises:
            RefusedError: They may not.
        """
        if invocation.is_foreign:
            raise RefusedError(Refusal(RefusalKind.FOREIGN))
        if not self.policy.allows_messages_of(invocation.channel_id):
            raise RefusedError(Refusal(RefusalKind.CHANNEL_OFF))

    async def _check(self, case: Case, invocation: Invocation) -> None:
        if invocation.is_foreign:
            raise RefusedError(Refusal(RefusalKind.FOREIGN))
        if not self.policy.allows_channel(case):
            raise RefusedError(Refusal(RefusalKind.CHANNEL_OFF))
        # Before its words are in the log; the author of a linked message is known once it is read.
        is_nobodys = case.message_ts is None or (case.author_id is None and case.response is None)
        if not (self.policy.scores_people or is_nobodys) and not await self.members.is_known_bot(case.author_id or ""):
            raise RefusedError(Refusal(RefusalKind.PEOPLE_OFF))

    async def proceed(self, case: LoggedCase, is_new: bool, invocation: Invocation) -> None:
        """Leaves a new case to its job; of a known one, shows the person how far it is."""
        if is_new:
            return
        if case.status is CaseStatus.ASKED:
            # Looked for once more: the app may have been invited meanwhile.
            await self.store.reopen(case, invocation.response_url, invocation.trigger_id)
            return
        verdict = await self.store.cases.verdict(case.id)
        if verdict:
            await self.store.draws.note_told(case, invocation.user_id)
        post = known_verdict(case, verdict, self.workspace_url) if verdict else messages.in_progress(case)
        await self.teller.tell(invocation.recipient_at(case), post)

    async def aside(self, invocation: Invocation, earlier: LoggedCase, *, has_typed: bool) -> Aside | None:
        """Why a verdict that this person asks for once more stands aside; None where it replaces the earlier one."""
        standing = await self.store.cases.standing(earlier)
        return aside_of(invocation.user_id, earlier, standing, has_typed=has_typed)

    async def answer(self, case: LoggedCase, question: str, invocation: Invocation) -> None:
        """Makes the question that its requester typed durable, and has the case go on.

        Raises:
            RefusedError: It may not: that may be long after the case was asked for.
        """
        await self._check(case, invocation)
        await self.store.answer(case, question, self.limits)


def _is_edited(known: LoggedCase, case: Case) -> bool:
    return case.response is not None and known.response_hash not in {None, text_hash(case.response)}


def _next_attempt(case: Case, known: LoggedCase) -> dict[str, object]:
    attempt = known.attempt + 1
    return {"attempt": attempt, "key": f"{case.key.rpartition(':')[0]}:{attempt}"}
