"""The Slack app: listeners, docket, log and delivery around the judge core."""
