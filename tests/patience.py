"""How long a test waits for what comes at once, unless something hangs: the machine may be busy with other things."""

from dataclasses import replace

from pocket_slack import Limits

ONLY_A_HANG_S = 120.0
UNHURRIED = replace(Limits.off(), answer_within_s=ONLY_A_HANG_S)
"""A Slack that waits for the app as long as a test does."""
