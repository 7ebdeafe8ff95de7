"""`/judge rubric`: what a channel is scored by."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.domain.clock import utc_now
from bot.domain.rubric import DEFAULT, MOST_RUBRICS, ChannelJudge, SavedRubric
from bot.features.rubrics import text as replay_words
from bot.features.rubrics import text as views
from bot.features.rubrics import text as words
from bot.pipeline.judges import RubricChoice
from bot.pipeline.text import COMMAND_TOO_SLOW, sentence
from bot.slack import ids
from bot.slack.access import Access
from bot.slack.commands import RubricRequest, parse_rubric
from bot.slack.invocation import Invocation, clicked_case_id, to_invocation
from bot.slack.messenger import Messenger
from bot.slack.submissions import RubricSubmission, to_rubric_submission
from bot.store.rubrics import MOST, ChannelReplays, RubricGoneError, RubricInUseError, SavedBeforeError
from judge import DEFAULT_RUBRIC

Answer = dict[str, Any]
"""How a submitted window is acknowledged."""


@dataclass(frozen=True)
class RubricWindow:
    """Shows a rubric, and saves what people make of it."""

    rubrics: RubricChoice
    access: Access
    messenger: Messenger

    async def open(self, invocation: Invocation, name: str) -> str:
        """Opens the window with that rubric, or the usual one; else why not.

        A new one is not begun where it could not be saved.
        """
        team_id, channel_id = invocation.team_id, invocation.channel_id
        own = await self.rubrics.log.find(team_id, channel_id, name) if name else None
        rubric = own.rubric if own else self.rubrics.shipped_as(name or DEFAULT_RUBRIC)
        if rubric is None:
            return words.no_rubric(name, await self.rubrics.names(team_id, channel_id))
        if not views.fits(rubric.prompt):
            return words.TOO_LONG_TO_EDIT
        if own is None and len(await self._own_names(team_id, channel_id)) >= MOST_RUBRICS:
            return views.TOO_MANY
        state = invocation.to_state()
        if own:
            state = state.model_copy(update={"rubric": own.name, "version": rubric.version})
        opened = await self.messenger.open_modal(invocation.trigger_id, views.rubric_modal(state, rubric))
        return "" if opened else COMMAND_TOO_SLOW

    async def submitted(self, invocation: Invocation, submission: RubricSubmission) -> Answer:
        """Saves the rubric; what is wrong with it, or the window as it shows what the model will get."""
        if refusal := await self.refusal(invocation):
            return {"response_action": "update", "view": views.message_modal(views.NOT_HERE.format(why=refusal))}
        name, prompt, channel_id = submission.name, submission.prompt, invocation.window_channel_id or ""
        if errors := views.errors(name, prompt, is_shipped=self.rubrics.shipped_as(name) is not None):
            return {"response_action": "errors", "errors": errors}
        own = await self._own_names(invocation.team_id, channel_id)
        if name not in own and len(own) >= MOST_RUBRICS:
            return {"response_action": "errors", "errors": {ids.BLOCK_NAME: views.TOO_MANY}}
        new = SavedRubric(
            invocation.team_id,
            channel_id,
            name,
            1,
            prompt,
            invocation.user_id,
            utc_now(),
        )
        began_with = submission.state.version if submission.state.rubric == name else None
        try:
            await self._save(new, began_with)
        except SavedBeforeError:
            return {"response_action": "errors", "errors": views.taken(name, is_new=began_with is None)}
        state = submission.state.model_copy(update={"rubric": name, "version": new.rubric.version})
        return {"response_action": "update", "view": views.saved_modal(state, new.rubric)}

    async def refusal(self, invocation: Invocation) -> str:
        """Why this person may not change the rubrics of the channel of a window; empty where they may."""
        if invocation.is_foreign:
            return words.FOREIGN_RUBRIC
        found = await self.access.refusal(invocation.window_channel_id or "", invocation.user_id, is_change=True)
        return words.no_access_text(found) if found else ""

    async def _own_names(self, team_id: str, channel_id: str) -> Collection[str]:
        return {saved.name for saved in await self.rubrics.log.newest(team_id, channel_id)}

    async def _save(self, new: SavedRubric, began_with: str | None) -> None:
        """Keeps it as the next version of that name, unless it is what stands there.

        Raises:
            SavedBeforeError: Another version was saved since the one that it began with.
        """
        last = await self.rubrics.log.find(new.team_id, new.channel_id, new.name)
        if last is None:
            await self.rubrics.log.save(new)
        elif last.prompt != new.prompt:
            if last.rubric.version != began_with:
                raise SavedBeforeError(new.name)
            await self.rubrics.log.save(replace(new, number=last.number + 1))


@dataclass(frozen=True)
class RubricUse:
    """Changes what a channel is scored by."""

    rubrics: RubricChoice
    models: Sequence[str]
    replays: ChannelReplays

    async def begin(self, team_id: str, channel_id: str, user_id: str, wanted: ChannelJudge) -> str:
        """Has a channel scored by this judge, and says what came of it.

        Without a version the rubric is taken as it was saved last; without a model the channel keeps the one it has.
        """
        chosen = await self.rubrics.log.chosen(team_id, channel_id)
        if wanted.model and wanted.model not in (DEFAULT, *self.models):
            return words.no_model(wanted.model, self.models)
        model = None if wanted.model == DEFAULT else wanted.model or chosen.model
        name = wanted.rubric or ""
        if name == DEFAULT:
            judge = ChannelJudge(model=model if wanted.model else None)
        else:
            rubric = await self.rubrics.find(team_id, channel_id, name, wanted.version)
            if rubric is None:
                return words.no_rubric(name, await self.rubrics.names(team_id, channel_id))
            is_own = await self.rubrics.log.find(team_id, channel_id, name, rubric.version)
            judge = ChannelJudge(rubric.name, rubric.version if is_own else None, model)
        if judge == chosen:
            return words.unchanged(judge, self.rubrics.default)
        if self._named(judge) == self._named(chosen):  # kept, whatever the app is set to later
            await self.use(team_id, channel_id, user_id, judge)
            return words.unchanged(judge, self.rubrics.default)
        if await self.replays.begin(team_id, channel_id, user_id, judge):
            return replay_words.BEGUN.format(judge=words.named(judge, self.rubrics.default), most=MOST)
        return f"{await self.use(team_id, channel_id, user_id, judge)} {replay_words.NO_LABELS}"

    async def use(
        self, team_id: str, channel_id: str, user_id: str, judge: ChannelJudge, decides: int | None = None
    ) -> str:
        """Has a channel scored by this judge from now on, and says so; nothing where another press has decided it."""
        try:
            if not await self.rubrics.log.use(team_id, channel_id, judge, user_id, decides):
                return ""
        except RubricGoneError:
            return words.no_rubric(judge.rubric or "", await self.rubrics.names(team_id, channel_id))
        return words.used(judge, self.rubrics.default)

    def _named(self, judge: ChannelJudge) -> ChannelJudge:
        return replace(judge, rubric=judge.rubric or self.rubrics.default)


@dataclass(frozen=True)
class RubricCommand:
    """Shows and changes a channel's rubrics, for those who may change its digest."""

    use: RubricUse
    window: RubricWindow
    access: Access
    messenger: Messenger

    async def answer(self, invocation: Invocation, text: str) -> None:
        try:
            said = await self._do(invocation, parse_rubric(text))
        except ValueError as exc:
            said = words.not_understood(str(exc))
        if said:
            await self.messenger.tell(invocation.recipient, sentence(said))

    async def _do(self, invocation: Invocation, request: RubricRequest) -> str:
        team_id, channel_id, user_id = invocation.team_id, invocation.channel_id, invocation.user_id
        if refusal := await self.access.refusal(channel_id, user_id, is_change=request.action != "state"):
            return words.no_access_text(refusal)
        match request.action:
            case "use":
                wanted = ChannelJudge(request.name, model=request.model)
                return await self.use.begin(team_id, channel_id, user_id, wanted)
            case "edit":
                return await self.window.open(invocation, request.name)
            case "delete":
                return await self._delete(team_id, channel_id, user_id, request.name)
        return await self._state(team_id, channel_id)

    async def _state(self, team_id: str, channel_id: str) -> str:
        rubrics = self.use.rubrics
        chosen, own = await rubrics.log.chosen(team_id, channel_id), await rubrics.log.newest(team_id, channel_id)
        wish = await self.use.replays.of(team_id, channel_id)
        return words.state(chosen, rubrics.default, list(rubrics.shipped), own, self.use.models, wish)

    async def _delete(self, team_id: str, channel_id: str, user_id: str, name: str) -> str:
        rubrics = self.use.rubrics
        try:
            await rubrics.log.delete(team_id, channel_id, name, user_id)
        except RubricGoneError:
            own = [saved.name for saved in await rubrics.log.newest(team_id, channel_id)]
            return words.not_made_here(name, own)
        except RubricInUseError:
            return words.not_deleted_in_use(name)
        return words.deleted(name)


@dataclass(frozen=True)
class RubricDecision:
    """What the two buttons do of a replay that its person was told of."""

    use: RubricUse
    access: Access
    messenger: Messenger

    async def decide(self, invocation: Invocation, number: int | None, *, is_wanted: bool) -> None:
        said = await self._decide(invocation, number, is_wanted)
        if said:
            await self.messenger.replace(invocation.response_url, sentence(said))

    async def _decide(self, invocation: Invocation, number: int | None, is_wanted: bool) -> str:
        replay = await self.use.replays.find(number) if number is not None else None
        if replay is None or (replay.team_id, replay.user_id) != (invocation.team_id, invocation.user_id):
            return f"{replay_words.CLOSED} {await self._what_holds(invocation)}"
        if refusal := await self.access.refusal(replay.channel_id, replay.user_id, is_change=True):
            return words.no_access_text(refusal)
        # Pressed twice, the other press answers.
        if not is_wanted:
            return replay_words.LEFT if await self.use.replays.drop(replay.id) else ""
        return await self.use.use(replay.team_id, replay.channel_id, replay.user_id, replay.judge, decides=replay.id)

    async def _what_holds(self, invocation: Invocation) -> str:
        """By what the channel is scored in which a button was pressed; to be asked there, where that is to be seen."""
        team_id, channel_id = invocation.team_id, invocation.channel_id
        if await self.access.refusal(channel_id, invocation.user_id, is_change=False):
            return replay_words.ASK
        chosen = await self.use.rubrics.log.chosen(team_id, channel_id)
        return replay_words.IN_USE.format(judge=words.named(chosen, self.use.rubrics.default))


def register(
    app: AsyncApp, window: RubricWindow, use: RubricUse, decision: RubricDecision, messenger: Messenger
) -> None:
    @app.action(ids.ACTION_RUBRIC_USE)
    async def use_replayed(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await decision.decide(to_invocation(body), clicked_case_id(body), is_wanted=True)

    @app.action(ids.ACTION_RUBRIC_LEAVE)
    async def leave_replayed(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await decision.decide(to_invocation(body), clicked_case_id(body), is_wanted=False)

    @app.view(ids.VIEW_RUBRIC)
    async def save(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack(**await window.submitted(to_invocation(body), to_rubric_submission(body)))

    @app.view(ids.VIEW_RUBRIC_SAVED)
    async def use_it(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation, state = to_invocation(body), to_rubric_submission(body).state
        await ack()
        channel_id = invocation.window_channel_id or ""
        said = await window.refusal(invocation)
        if not said:
            wanted = ChannelJudge(state.rubric, state.version)
            said = await use.begin(invocation.team_id, channel_id, invocation.user_id, wanted)
        # Who may change its rubrics is in the channel; anybody else is told in direct messages.
        here = Recipient(invocation.user_id, channel_id, response_url=invocation.response_url, is_in_channel=True)
        await messenger.tell(here, sentence(said))
