"""The border to Slack."""
