"""What a person (or another app's bot) does in the workspace, and what they see."""

from typing import Any

from pocket_slack import channels, events, payloads, responses, views
from pocket_slack.deliveries import Delivery
from pocket_slack.errors import RefusedError, SandboxError
from pocket_slack.executions import Execution
from pocket_slack.functions import misfits
from pocket_slack.inputs import KINDS, chosen, find_element, refusals, state_values
from pocket_slack.model import Json, Message, View
from pocket_slack.writers import Writer


class Person(Writer):
    """Somebody in the workspace. Channels go by name or id, messages by timestamp or as themselves.

    Everything that the app hears of returns the `Delivery`, which tells whether it was acknowledged.
    """

    @property
    def im(self) -> str:
        """The id of the direct messages between this person and the app."""
        return self.ws.im(self.id).id

    def messages(self, channel: str) -> list[Message]:
        """The channel as it stands, oldest first, without the replies in threads."""
        return [m for m in self._seen(channel).messages.values() if not m.is_reply or m.is_broadcast]

    def thread(self, channel: str, ts: str) -> list[Message]:
        """A thread: its parent, then the replies, oldest first."""
        where = self._seen(channel)
        return [where.messages[ts], *where.replies(ts)]

    def ephemerals(self, channel: str) -> list[Message]:
        """What only this person sees in a channel, oldest first."""
        return [m for m in self._seen(channel).ephemerals if m.shown_to == self.id]

    def join(self, channel: str) -> None:
        """Join a public channel."""
        where = self.ws.channel(channel)
        if where.is_private and self.id not in where.members:
            raise SandboxError(f"{where.name} is private: a member has to invite {self.user.name}")
        channels.join(self.ws, where, self.user)

    def invite(self, channel: str, name_or_id: str) -> None:
        """Bring somebody into a channel; `/invite @bot` does the same."""
        channels.join(self.ws, self._joined(channel), self.ws.user(name_or_id), self.user)

    def leave(self, channel: str) -> None:
        """Leave a channel."""
        channels.leave(self.ws, self._joined(channel), self.user)

    def remove(self, channel: str, name_or_id: str) -> None:
        """Take somebody out of a channel; `/remove @bot` does the same in Slack."""
        where, who = self._joined(channel), self.ws.user(name_or_id)
        if who.id not in where.members:
            raise SandboxError(f"{who.name} is not in {where.name}")
        channels.leave(self.ws, where, who, self.user)

    def archive(self, channel: str, is_archived: bool = True) -> None:
        """Archive a channel, or bring it back."""
        channels.archive(self.ws, self._seen(channel), self.user, is_archived)

    def rename(self, channel: str, name: str) -> None:
        """Give a channel another name."""
        channels.rename(self.ws, self._joined(channel), self.user, name)

    def set_topic(self, channel: str, topic: str) -> None:
        """Say what a channel is about."""
        channels.set_topic(self.ws, self._joined(channel), self.user, topic)

    def command(self, channel: str, command: str, text: str = "") -> Delivery:
        """Run a slash command of the app, in a channel; Slack offers none in threads."""
        where = self._seen(channel)
        declared = self.ws.manifest.command(command)
        if declared.should_escape:
            text = self._text(text)
        payload = payloads.slash_command(self.ws, self.user, where, command, text)
        return self.ws.deliveries.send(
            "slash_commands",
            payload,
            on_ack=lambda response: responses.to_command(self.ws, where, self.id, response),
            on_failure=lambda error: responses.command_failed(self.ws, where, self.id, command, error),
        )

    def shortcut(self, callback_id: str, message: Message | None = None) -> Delivery:
        """Choose a shortcut from the menu of `message`, or a global one."""
        if message is None:
            self.ws.manifest.shortcut(callback_id, "global")
            return self.ws.deliveries.send("interactive", payloads.global_shortcut(self.ws, self.user, callback_id))
        if message.shown_to:
            raise SandboxError("an ephemeral message has no shortcuts in its menu")
        self.ws.manifest.shortcut(callback_id, "message")
        where = self._seen(message.channel_id)
        return self.ws.deliveries.send(
            "interactive", payloads.message_shortcut(self.ws, self.user, where, message, callback_id)
        )

    def run_step(self, callback_id: str, inputs: Json) -> Execution:
        """Start a workflow that comes to a function of the app as a step, with these inputs.

        Raises:
            SandboxError: Workflow Builder would not offer that: an input is missing, unknown or of another type.
        """
        function = self.ws.manifest.function(callback_id)
        if wrong := misfits(function.inputs, inputs):
            raise SandboxError(f"the step {callback_id!r} does not run: {'; '.join(wrong)}")
        execution = self.ws.executions.start(function, inputs, self.id)
        execution.delivery = events.function_executed(self.ws, execution)
        return execution

    def click(
        self, surface: Message | View, action_id: str, value: Any = None, block_id: str | None = None
    ) -> Delivery:
        """Click a button, or choose in a menu, picker or group of boxes.

        Args:
            surface: The message, modal or home tab it stands in.
            action_id: The element's.
            value: What is chosen: an option's value, a list of them, an id, a date, the value of one of the
                feedback buttons. Nothing for a button.
            block_id: Says which, where several blocks have that action id.
        """
        blocks = surface.blocks if isinstance(surface, Message) else surface.body["blocks"]
        block, element = find_element(blocks, action_id, block_id)
        if element["type"] in KINDS:
            surface.values.setdefault(block["block_id"], {})[action_id] = chosen(element, value)
        action = payloads.action(self.ws, block, element, value)
        if isinstance(surface, View):
            return self.ws.deliveries.send("interactive", payloads.view_action(self.ws, self.user, surface, action))
        if surface.author is not self.ws.bot:
            raise SandboxError("this message is another app's: its clicks do not come here")
        where = self._seen(surface.channel_id)
        payload = payloads.message_action(self.ws, self.user, where, surface, action)
        return self.ws.deliveries.send("interactive", payload)

    @property
    def view(self) -> View | None:
        """The modal in front of this person; None when there is none."""
        stack = self.ws.stacks.get(self.id)
        return stack[-1] if stack else None

    def fill(self, values: Json, block_id: str | None = None) -> View:
        """Type into the modal in front; `values` maps action ids (of one block) to what is typed or chosen.

        What stood under a field because of what was there before goes.
        """
        view = self._modal()
        for action_id, value in values.items():
            block, element = find_element(view.body["blocks"], action_id, block_id)
            view.values.setdefault(block["block_id"], {})[action_id] = chosen(element, value)
            view.errors = {id_: text for id_, text in view.errors.items() if id_ != block["block_id"]}
        return views.show(self.ws, view) if values else view

    def submit(self, values: Json | None = None) -> Delivery:
        """Fill in the modal in front and press its submit button.

        Raises:
            RefusedError: The client would not send it: a required input is empty, a text too short or too long.
        """
        view = self.fill(values or {})
        if "submit" not in view.body:
            raise SandboxError("this modal has no submit button")
        if view.errors:
            view.errors = {}
            views.show(self.ws, view)
        state = state_values(view.body["blocks"], view.values)
        if errors := refusals(view.body["blocks"], state):
            raise RefusedError(errors)
        payload = payloads.view_submission(self.ws, self.user, view)
        return self.ws.deliveries.send(
            "interactive",
            payload,
            on_ack=lambda response: responses.to_submission(self.ws, view, response),
            on_failure=lambda error: responses.submission_failed(self.ws, view),
        )

    def close(self) -> Delivery | None:
        """Close the modal in front; the app hears of it only if the view asked for that."""
        view = self._modal()
        is_cleared = bool(view.body.get("clear_on_close"))
        views.close(self.ws, view, all_of_them=is_cleared)
        if not view.body.get("notify_on_close"):
            return None
        return self.ws.deliveries.send("interactive", payloads.view_closed(self.ws, self.user, view, is_cleared))

    def open_home(self) -> View | None:
        """Open the app's home tab: what it has published so far, if anything."""
        if not self.ws.manifest.has_home_tab:
            raise SandboxError("the manifest has no home tab: features.app_home.home_tab_enabled")
        home = self.home
        events.home_opened(self.ws, self.user, views.to_slack(self.ws, home) if home else None)
        return home

    @property
    def home(self) -> View | None:
        """The home tab that the app has published for this person."""
        return self.ws.homes.get(self.id)

    def _modal(self) -> View:
        if self.view is None:
            raise SandboxError(f"{self.user.name} has no modal open")
        return self.view
