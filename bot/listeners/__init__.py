"""What Slack calls: one route table per feature, each listener thin.

Whoever takes a case in does the same three things in the same order: make it durable, acknowledge, start the docket.
"""

from slack_bolt.async_app import AsyncApp

from bot.listeners import buttons, command, events, home, labels, modals, recent, shortcut
from bot.listeners.desk import Desk


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects every listener to the app."""
    for feature in (command, shortcut, modals, buttons, labels, recent, home, events):
        feature.register(app, desk)


__all__ = ["Desk", "register"]
