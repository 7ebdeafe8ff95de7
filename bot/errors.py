"""The app's errors: BotError is their root; each message says what is wrong and what to do.

BotError
├── SettingsError    a setting is missing or wrong; lists all of them
├── StoreError         the database cannot be opened, migrated or written
└── SlackError       Slack refuses the tokens, or cannot be reached at start
"""


class BotError(Exception):
    """A problem that the operator has to fix."""


class SettingsError(BotError):
    """Settings are missing or wrong."""


class StoreError(BotError):
    """The database cannot be opened, migrated or written."""


class SlackError(BotError):
    """Slack refuses the tokens, or cannot be reached at start."""
