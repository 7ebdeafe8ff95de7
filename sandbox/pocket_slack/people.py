"""What a person (or another app's bot) does in the workspace, and what they see."""

import re
from typing import Any

from pocket_slack import channels, events, payloads, posts, responses, views
from pocket_slack.deliveries import Delivery
from pocket_slack.errors import RefusedError, SandboxError
from pocket_slack.executions import Execution
from pocket_slack.functions import misfits
from pocket_slack.inputs import KINDS, chosen, find_element, refusals, state_values
from pocket_slack.model import AssistantThread, Json, Message, View
from pocket_slack.writers import Writer

_NAMED = ("users_select", "channels_select", "conversations_select")
_ID = re.compile(r"[CDGUW][A-Z0-9]{2,}")


class Person(Writer):
    """A person or bot in the workspace. Channels are given by name or id, messages as objects,
    threads by timestamp.

    Actions that the app must acknowledge return a `Delivery`, which says whether it did.
    """

    @property
    def im(self) -> str:
        """The id of the direct messages between this person and the app."""
        return self.ws.im(self.id).id

    def messages(self, channel: str) -> list[Message]:
        """The messages in a channel, oldest first, without replies that are only in threads."""
        return [
            m for m in self._seen(channel).messages.values() if not m.is_reply or m.is_broadcast
        ]

    def thread(self, channel: str, ts: str) -> list[Message]:
        """A thread: its parent, then the replies, oldest first."""
        where = self._seen(channel)
        return [where.messages[ts], *where.replies(ts)]

    def ephemerals(self, channel: str) -> list[Message]:
        """The ephemeral messages for this person in a channel, oldest first."""
        return [m for m in self._seen(channel).ephemerals if m.shown_to == self.id]

    def join(self, channel: str) -> None:
        """Joins a public channel."""
        where = self.ws.channel(channel)
        if where.is_private and self.id not in where.members:
            raise SandboxError(f"{where.name} is private: a member has to invite {self.user.name}")
        channels.join(self.ws, where, self.user)

    def invite(self, channel: str, name_or_id: str) -> None:
        """Adds a user or bot to a channel, as `/invite @bot` does in Slack."""
        channels.join(self.ws, self._joined(channel), self.ws.user(name_or_id), self.user)

    def leave(self, channel: str) -> None:
        """Leaves a channel."""
        channels.leave(self.ws, self._joined(channel), self.user)

    def remove(self, channel: str, name_or_id: str) -> None:
        """Removes a user or bot from a channel, as `/remove @bot` does in Slack."""
        where = self._joined(channel)
        who = self.ws.user(name_or_id)
        if who.id not in where.members:
            raise SandboxError(f"{who.name} is not in {where.name}")
        channels.leave(self.ws, where, who, self.user)

    def archive(self, channel: str, is_archived: bool = True) -> None:
        """Archives or unarchives a channel."""
        channels.archive(self.ws, self._seen(channel), self.user, is_archived)

    def rename(self, channel: str, name: str) -> None:
        """Renames a channel."""
        channels.rename(self.ws, self._joined(channel), self.user, name)

    def set_topic(self, channel: str, topic: str) -> None:
        """Sets a channel's topic."""
        channels.describe(self.ws, self._joined(channel), self.user, "topic", topic)

    def command(self, channel: str, command: str, text: str = "") -> Delivery:
        """Runs a slash command of the app in a channel; Slack has no commands in threads."""
        where = self._seen(channel)
        declared = self.ws.manifest.command(command)
        if declared.should_escape:
            text = self._text(text)
        payload = payloads.slash_command(self.ws, self.user, where, command, text)
        return self.ws.deliveries.send(
            "slash_commands",
            payload,
            on_ack=lambda response: responses.to_command(self.ws, where, self.id, response),
            on_failure=lambda error: responses.command_failed(
                self.ws, where, self.id, command, error
            ),
        )

    def shortcut(self, callback_id: str, message: Message | None = None) -> Delivery:
        """Chooses a shortcut from the menu of `message`, or a global one."""
        if message is None:
            self.ws.manifest.shortcut(callback_id, "global")
            return self.ws.deliveries.send(
                "interactive", payloads.global_shortcut(self.ws, self.user, callback_id)
            )
        if message.shown_to:
            raise SandboxError("an ephemeral message has no shortcuts in its menu")
        self.ws.manifest.shortcut(callback_id, "message")
        where = self._seen(message.channel_id)
        return self.ws.deliveries.send(
            "interactive",
            payloads.message_shortcut(self.ws, self.user, where, message, callback_id),
        )

    def run_step(self, callback_id: str, inputs: Json) -> Execution:
        """Runs a function of the app as a workflow step with these inputs.

        Raises:
            SandboxError: Workflow Builder would not allow this: an input is missing, unknown or of
                another type.
        """
        function = self.ws.manifest.function(callback_id)
        if wrong := misfits(function.inputs, inputs):
            raise SandboxError(f"the step {callback_id!r} does not run: {'; '.join(wrong)}")
        execution = self.ws.executions.start(function, inputs, self.id)
        execution.delivery = events.function_executed(self.ws, execution)
        return execution

    def click(
        self,
        surface: Message | View,
        action_id: str,
        value: Any = None,
        block_id: str | None = None,
    ) -> Delivery:
        """Clicks a button, or chooses in a menu, picker or group of checkboxes.

        Args:
            surface: The message, modal or home tab that contains the element.
            action_id: The element's action id.
            value: What is chosen: an option's value, a list of them, the name or id of a person or
                channel, a date, the value of one of the feedback buttons. None for a button.
            block_id: The element's block, if several blocks have that action id.
        """
        blocks = surface.blocks if isinstance(surface, Message) else surface.body["blocks"]
        block, element = find_element(blocks, action_id, block_id)
        value = self._picked(element, value)
        if element["type"] in KINDS:
            surface.values.setdefault(block["block_id"], {})[action_id] = chosen(element, value)
        action = payloads.action(self.ws, block, element, value)
        if isinstance(surface, View):
            return self.ws.deliveries.send(
                "interactive", payloads.view_action(self.ws, self.user, surface, action)
            )
        if surface.author is not self.ws.bot:
            raise SandboxError("this message is another app's: its clicks do not come here")
        where = self._seen(surface.channel_id)
        payload = payloads.message_action(self.ws, self.user, where, surface, action)
        return self.ws.deliveries.send("interactive", payload)

    @property
    def view(self) -> View | None:
        """The modal in front of this person, or None if there is none."""
        stack = self.ws.stacks.get(self.id)
        return stack[-1] if stack else None

    def fill(self, values: Json, block_id: str | None = None) -> View:
        """Types into the modal in front; `values` maps action ids (of one block) to what is typed
        or chosen.

        Errors under these fields go away.
        """
        view = self._modal()
        for action_id, value in values.items():
            block, element = find_element(view.body["blocks"], action_id, block_id)
            view.values.setdefault(block["block_id"], {})[action_id] = chosen(
                element, self._picked(element, value)
            )
            view.errors = {
                id_: text for id_, text in view.errors.items() if id_ != block["block_id"]
            }
        return views.show(self.ws, view) if values else view

    def submit(self, values: Json | None = None) -> Delivery:
        """Fills in the modal in front and presses its submit button.

        Raises:
            RefusedError: The client would not send it: a required input is empty, or a text is too
                short or too long.
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
        """Closes the modal in front; the app is told only if the view has `notify_on_close`."""
        view = self._modal()
        is_cleared = bool(view.body.get("clear_on_close"))
        views.close(self.ws, view, all_of_them=is_cleared)
        if not view.body.get("notify_on_close"):
            return None
        return self.ws.deliveries.send(
            "interactive", payloads.view_closed(self.ws, self.user, view, is_cleared)
        )

    def open_home(self) -> View | None:
        """Opens the app's home tab and returns what the app has published there, or None."""
        if not self.ws.manifest.has_home_tab:
            raise SandboxError("the manifest has no home tab: features.app_home.home_tab_enabled")
        home = self.home
        events.home_opened(
            self.ws, self.user, "home", views.to_slack(self.ws, home) if home else None
        )
        return home

    def open_messages(self) -> None:
        """Opens the app's Messages tab."""
        if not (self.ws.manifest.has_messages_tab or self.ws.manifest.is_agent):
            raise SandboxError(
                "the manifest has no Messages tab: features.app_home.messages_tab_enabled"
            )
        if self.ws.manifest.is_agent:
            self.ws.assistants[self.id] = ("", None)
        events.home_opened(self.ws, self.user, "messages")

    def open_assistant(self, looking_at: str | None = None) -> Message:
        """Opens the assistant beside a channel; gives the root of a new thread, for `post(ann.im,
        "...", root.ts)`.
        """
        if not self.ws.manifest.has_assistant:
            raise SandboxError(
                "the manifest has no assistant: features.assistant_view; an agent has "
                "open_messages()"
            )
        place = self._seen(looking_at).id if looking_at else None
        root = posts.start_assistant(self.ws, self.ws.im(self.id))
        self.ws.assistants[self.id] = (root.ts, place)
        events.assistant_thread(self.ws, self.user, "started")
        return root

    def look_at(self, channel: str) -> None:
        """Goes to another channel while the assistant, or an agent's Messages tab, is open beside
        it.
        """
        if self.id not in self.ws.assistants:
            opened = "open_messages" if self.ws.manifest.is_agent else "open_assistant"
            raise SandboxError(f"{self.user.name} has no assistant open; see {opened}()")
        (ts, before), place = self.ws.assistants[self.id], self._seen(channel).id
        self.ws.assistants[self.id] = (ts, place)
        if place != before and self.ws.manifest.is_agent:
            events.app_context_changed(self.ws, self.user, place)
        elif place != before:
            events.assistant_thread(self.ws, self.user, "context_changed")

    def assistant(self, ts: str = "") -> AssistantThread:
        """The title, status and suggested prompts of a thread with the app; of the top of an
        agent's Messages tab.
        """
        return self.ws.im(self.id).assistant[ts]

    @property
    def home(self) -> View | None:
        """The home tab that the app has published for this person, or None."""
        return self.ws.homes.get(self.id)

    def _picked(self, element: Json, value: Any) -> Any:
        """The value as the app gets it: in menus of people and channels, ids also for names."""
        kind = element["type"].removeprefix("multi_")
        if kind in _NAMED and isinstance(value, list):
            return [self._picked({"type": kind}, each) for each in value]
        is_gone = (
            isinstance(value, str)
            and _ID.fullmatch(value)
            and value not in self.ws.users | self.ws.channels
        )
        if kind not in _NAMED or value is None or is_gone:
            return value
        if kind == "users_select":
            return self.ws.user(value).id
        where = self._seen(value)
        if kind == "channels_select" and where.kind != "channels":
            raise SandboxError(
                f"{where.name} is not a public channel, and so not in a channels_select"
            )
        return where.id

    def _modal(self) -> View:
        if self.view is None:
            raise SandboxError(f"{self.user.name} has no modal open")
        return self.view
