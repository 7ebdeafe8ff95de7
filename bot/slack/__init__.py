"""The layer that talks to Slack; raw payloads stop here."""
