"""The workspace as one person sees it, as JSON."""

from pocket_slack import views
from pocket_slack.model import Channel, Json, View
from pocket_slack.people import Person
from pocket_slack.streaming import seen


def to_state(person: Person) -> Json:
    """Everything a person sees: the app, their channels with messages and ephemerals, their modal
    and home tab.
    """
    ws = person.ws
    return {
        "team": {"name": ws.name, "url": f"https://{ws.domain}.slack.com"},
        "app": to_app(person),
        "me": person.user.to_slack(),
        "users": [user.to_slack() for user in ws.authors().values()],
        "channels": [
            to_channel(person, channel) for channel in ws.channels.values() if person.sees(channel)
        ],
        "view": to_view(person, person.view) if person.view else None,
        "home": to_view(person, person.home) if person.home else None,
        "steps": ws.steps.to_json(),
    }


def to_app(person: Person) -> Json:
    """What Slack's clients show of the app: commands, shortcuts, the home tab."""
    ws = person.ws
    manifest = person.ws.manifest
    return {
        "id": ws.app_id,
        "name": manifest.name,
        "user": ws.bot.id,
        "has_home_tab": manifest.has_home_tab,
        "has_messages_tab": manifest.has_messages_tab or manifest.is_agent,
        "has_assistant": manifest.has_assistant,
        "commands": [vars(command) for command in (manifest.commands or {}).values()],
        "shortcuts": [vars(shortcut) for shortcut in (manifest.shortcuts or {}).values()],
    }


def to_channel(person: Person, channel: Channel) -> Json:
    """A channel with everything in it that the person sees."""
    return {
        **channel.to_slack(person.id),
        "threads": {ts: vars(thread) for ts, thread in channel.assistant.items()},
        "messages": [seen(person.ws, message, person.id) for message in channel.messages.values()],
        "ephemerals": [
            message.to_slack() | {"is_ephemeral": True} for message in person.ephemerals(channel.id)
        ],
    }


def to_view(person: Person, view: View) -> Json:
    """A view, and the errors that the client shows under its inputs."""
    return {**views.to_slack(person.ws, view), "errors": view.errors}
