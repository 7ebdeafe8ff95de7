"""Makes the case of a request: of a message, a link, two texts, or of a case that is scored again."""

from dataclasses import dataclass

from bot.domain.case import (
    WITHOUT_QUESTION,
    Case,
    CaseSource,
    Exclusion,
    LoggedCase,
    Part,
    QuestionSource,
    Visibility,
)
from bot.domain.case_key import MessageKey, command_key, window_key
from bot.pipeline.judges import RubricChoice
from bot.pipeline.lookup import Lookup
from bot.slack.invocation import Invocation, Submission
from bot.slack.messages import Message, Permalink
from bot.store import Store


@dataclass(frozen=True)
class Requests:
    """Makes cases of what people ask for; `visibility` is that of the app's settings."""

    store: Store
    rubrics: RubricChoice
    visibility: Visibility
    lookup: Lookup

    async def of_message(
        self, invocation: Invocation, message: Message, source: CaseSource = CaseSource.SHORTCUT
    ) -> Case:
        """The case for a message at hand, which is the response; its question is found later."""
        channel_id = invocation.channel_id
        marks = await self.lookup.marks_of(message.author_id)
        rubric, chosen = await self.chosen(invocation, channel_id)
        visibility = marks.visibility or chosen
        key = MessageKey.asked_by(invocation.user_id, visibility, channel_id, message.ts)
        return Case(
            key=str(key),
            team_id=invocation.team_id,
            channel_id=channel_id,
            requester_id=invocation.user_id,
            requester_name=invocation.user_name,
            response_url=invocation.response_url,
            source=source,
            rubric=rubric,
            visibility=visibility,
            excluded=marks.excluded,
            message_ts=message.ts,
            parent_ts=message.parent_ts,
            author_id=message.author_id,
            response=message.text,
            blocker=message.blocker,
        )

    async def of_link(self, invocation: Invocation, link: Permalink) -> Case:
        """The case for a link to a message, which is read later."""
        channel_id = link.channel_id
        rubric, visibility = await self.chosen(invocation, channel_id)
        user_id = invocation.user_id
        key = MessageKey.asked_by(user_id, visibility, channel_id, link.message_ts)
        return Case(
            key=str(key),
            team_id=invocation.team_id,
            channel_id=channel_id,
            requester_id=user_id,
            requester_name=invocation.user_name,
            response_url=invocation.response_url,
            source=CaseSource.LINK,
            rubric=rubric,
            visibility=visibility,
            message_ts=link.message_ts,
            parent_ts=link.parent_ts,
        )

    async def of_texts(self, invocation: Invocation, question: str, response: str) -> Case:
        """The case for two texts typed after `/judge`."""
        rubric, visibility = await self.chosen(invocation, invocation.channel_id)
        return Case(
            key=command_key(invocation.trigger_id),
            team_id=invocation.team_id,
            channel_id=invocation.channel_id,
            requester_id=invocation.user_id,
            requester_name=invocation.user_name,
            response_url=invocation.response_url,
            source=CaseSource.TEXT,
            rubric=rubric,
            visibility=visibility,
            question=question,
            question_source=QuestionSource.TYPED,
            question_author_id=invocation.user_id,
            response=response,
        )

    def of_window(self, invocation: Invocation, submission: Submission) -> Case:
        """The case for the window of `/judge`; one that is submitted twice is the same case."""
        return Case(
            key=window_key(submission.view_id),
            team_id=invocation.team_id,
            channel_id=invocation.window_channel_id or "",
            requester_id=invocation.user_id,
            requester_name=invocation.user_name,
            response_url=invocation.response_url,
            source=CaseSource.MODAL,
            rubric=submission.rubric or self.rubrics.default,
            # In direct messages and the Home tab, the window does not ask who sees the verdict:
            # only this person can.
            visibility=submission.visibility or Visibility.THREAD,
            question=submission.question,
            question_source=QuestionSource.TYPED,
            question_author_id=invocation.user_id,
            response=submission.response,
        )

    async def again(self, invocation: Invocation, earlier: LoggedCase) -> Case:
        """The case for "Score again": two people who click it on the same public case get one
        verdict.
        """
        rubric, visibility = await self.chosen(invocation, earlier.channel_id, earlier)
        target = earlier.message_ts or f"case-{earlier.id}"
        key = MessageKey.asked_by(
            invocation.user_id, visibility, earlier.channel_id, target, earlier.attempt + 1
        )
        excluded = await self.store.cases.exclusion_of(invocation.user_id, earlier)
        earlier = await self.store.cases.with_turns(earlier)
        case = _repeated(invocation, earlier, str(key), rubric, visibility, excluded)
        if earlier.question_source is QuestionSource.CHOSEN:
            return case.model_copy(update={"question": None})
        if earlier.question_ts is None:
            return case
        if earlier.edited_at:
            return case.model_copy(update=WITHOUT_QUESTION)
        # The thread is read again, because the reply may go on by now; what is known is for when it
        # cannot be read.
        return case.model_copy(update={"question_source": None})

    async def corrected(
        self, invocation: Invocation, earlier: LoggedCase, submission: Submission
    ) -> Case:
        """The case for "Wrong question?": the same response with the question that the person
        typed, or else chose.
        """
        _, visibility = await self.chosen(invocation, earlier.channel_id, earlier)
        excluded = await self.store.cases.exclusion_of(invocation.user_id, earlier, has_chosen=True)
        earlier = await self.store.cases.with_turns(earlier)
        key = window_key(submission.view_id)
        case = _repeated(invocation, earlier, key, earlier.rubric, visibility, excluded)
        # What was said before another question is unknown.
        turns = tuple(turn for turn in earlier.turns if turn.part is Part.RESPONSE)
        found: dict[str, object] = {
            **WITHOUT_QUESTION,
            "turns": turns,
            "messages_before": 0,
            "left_out": 0,
        }
        if submission.question:
            found["question"] = submission.question
            found["question_source"] = QuestionSource.TYPED
            found["question_author_id"] = invocation.user_id
        else:
            # The chosen message is read again, with those before it.
            found["question_source"] = QuestionSource.CHOSEN
            found["question_ts"] = submission.chosen
        return case.model_copy(update=found)

    async def chosen(
        self, invocation: Invocation, channel_id: str, earlier: LoggedCase | None = None
    ) -> tuple[str, Visibility]:
        """The rubric and visibility of a new case: the choices of its channel and person, or the
        app's settings.

        If it repeats an earlier case, it is never more public than that one.
        """
        own = await self.store.channels.visibility(invocation.team_id, invocation.user_id)
        visibility = own or self.visibility
        if earlier:
            is_for_one = Visibility.ME in {own, earlier.visibility}
            visibility = Visibility.ME if is_for_one else Visibility.THREAD
        return await self.rubrics.used(invocation.team_id, channel_id), visibility


def _repeated(
    invocation: Invocation,
    earlier: LoggedCase,
    key: str,
    rubric: str,
    visibility: Visibility,
    excluded: Exclusion | None,
) -> Case:
    """A case on the response of an earlier one, and on its question.

    A person asks for it, even if a watch drew the earlier one; so it has no probability, and
    nothing says what the channel sees of it.
    """
    parent_ts = earlier.parent_ts
    response = earlier.response
    if earlier.message_ts is None:
        parent_ts = earlier.thread_ts
    elif earlier.blocker or earlier.edited_at:
        # Read again, because the message may have a text by now, or a new one.
        response = None
    return Case(
        key=key,
        team_id=invocation.team_id,
        channel_id=earlier.channel_id,
        requester_id=invocation.user_id,
        requester_name=invocation.user_name,
        response_url=invocation.response_url,
        source=CaseSource.BUTTON,
        rubric=rubric,
        visibility=visibility,
        attempt=earlier.attempt + 1,
        excluded=excluded,
        message_ts=earlier.message_ts,
        parent_ts=parent_ts,
        author_id=earlier.author_id,
        question=earlier.question,
        question_source=earlier.question_source,
        question_ts=earlier.question_ts,
        question_author_id=earlier.question_author_id,
        response=response,
        turns=earlier.turns,
        messages_before=earlier.messages_before,
        left_out=earlier.left_out,
        messages=earlier.messages,
        unread=earlier.unread,
    )
