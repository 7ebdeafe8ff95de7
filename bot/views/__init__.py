"""What people see in Slack: pure functions from cases and verdicts to blocks and text."""
