"""The Slack app: listeners, case pipeline, store and delivery around the judge core."""
