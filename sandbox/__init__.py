"""A pocket Slack: Web API and Socket Mode in one process, for the demo and the tests."""
