"""A pocket Slack: Web API and Socket Mode in one process, for trying and testing Bolt apps.

It works with any Bolt app and is as strict as Slack's documentation. Its README lists what it
supports.

    workspace = Workspace(manifest)              # a manifest as a dict; tests add limits=Limits.off()
    ann, ben = workspace.add_user("ann"), workspace.add_user("ben")
    helper = workspace.add_bot("helper")         # another app's bot
    workspace.add_webhook("github")              # posts as the classic `bot_message`, without a user
    workspace.add_channel("help", [ann, ben, helper, workspace.bot])    # without workspace.bot: `not_in_channel`

    async with Sandbox(workspace) as slack:      # by default on a free port
        print(slack.url)                                                  # the page for the browser
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)
        app = AsyncApp(client=client)
        handler = AsyncSocketModeHandler(app, slack.app_token)
        await handler.connect_async()
        await slack.connected()

People are looked up by name. Messages come back as `Message` (`ts`, `text`, `blocks`, `thread_ts`,
`author`), modals and home tabs as `View` (`body`, `values`, `errors`):

        ann = slack.person("ann")
        question = ann.post("help", "How do I get a <refund>?")               # @name, #channel and links are understood
        helper = slack.person("helper")
        answer = helper.post("help", "...", thread_ts=question.ts, blocks=[...])
        ann.edit(question, "..."); ann.delete(question)
        helper.post_in_parts("help", ["One moment...", "..."], question.ts)   # the second one 2 s later
        streamed = helper.stream("help", "Firs", question.ts)                 # chat.startStream; ann sees every piece
        helper.append(streamed, "t"); helper.stop(streamed, "!")              # others see it all
        ann.share(answer, "random", "look")                                   # a message into another one
        ann.react(answer, "eyes"); ann.unreact(answer, "eyes")
        ann.messages("help"); ann.thread("help", question.ts); ann.ephemerals("help")
        ann.join("random"); ann.invite("help", workspace.bot.name); ann.leave("random"); ann.remove("help", "ben")
        ann.archive("help"); ann.rename("help", "support"); ann.set_topic("support", "be kind")
        ann.command("help", "/score", "text")                                 # SandboxError if not in the manifest
        ann.shortcut("callback_id", answer); ann.shortcut("global_callback_id")
        ann.run_step("callback_id", {"input": "..."})                         # runs a function; gives an `Execution`
        ann.click(message_or_view, "action_id", value=None, block_id=None)    # buttons, menus, feedback buttons
        ann.view; ann.fill({"action_id": "..."}); ann.submit({"action_id": "..."}); ann.close()
        ann.open_home(); ann.home
        root = ann.open_assistant("help")                                     # a new thread; ann looks at #help
        ann.post(ann.im, "Why?", root.ts); ann.look_at("random"); ann.assistant(root.ts).status
        ann.open_messages()                                                   # the Messages tab; of an agent, too

`submit` raises `RefusedError` if Slack's client would not send the form. Actions that the app must
acknowledge return a `Delivery`: `payload`, `is_acked`, `acked_ms`, `response`, `failure`
(`operation_timeout`, `dispatch_failed`).

An `Execution` has `status` (`running`, `completed`, `failed`), `outputs`, `error` and `delivery`.
If the app never ends it, it stays in `workspace.executions.running`.

Wait without sleeping: conditions are checked after everything that happens.

        await slack.until(lambda: len(ann.thread("help", question.ts)) == 3, timeout_s=5)
        await slack.settled(ann.command("help", "/score"))                    # acknowledged or failed

Make the next call of a method or `response_url` fail, or disturb the sockets:

        slack.fail("chat.postMessage", retry_after_s=2)                       # or status=500, error="...", drop=True
        slack.fail("chat.postMessage", status=500, is_applied=True)           # posted, but answered with an error
        slack.fail("views.open", delay_s=0.5, times=3)
        workspace.deliveries.redeliver(delivery)
        await slack.sockets.drop(); slack.sockets.silence(); slack.sockets.say_goodbye("warning")

`workspace.manifest.gaps` says what the manifest asks for and the sandbox does not have.
`pocket_slack.testing` is a pytest fixture.

`workspace.journal.entries` is everything that happened: `entry.kind`, `entry.at`, `entry.data`;
`journal.of("call")`.
"""

from pocket_slack.clock import Clock, ManualClock, SystemClock
from pocket_slack.deliveries import Delivery
from pocket_slack.errors import RefusedError, SandboxError, SlackError
from pocket_slack.executions import Execution
from pocket_slack.faults import Fault
from pocket_slack.journal import Entry, Journal
from pocket_slack.limits import Limits
from pocket_slack.model import Channel, Message, User, View
from pocket_slack.people import Person
from pocket_slack.server import Sandbox
from pocket_slack.workspace import Workspace

__all__ = [
    "Channel",
    "Clock",
    "Delivery",
    "Entry",
    "Execution",
    "Fault",
    "Journal",
    "Limits",
    "ManualClock",
    "Message",
    "Person",
    "RefusedError",
    "Sandbox",
    "SandboxError",
    "SlackError",
    "SystemClock",
    "User",
    "View",
    "Workspace",
]
