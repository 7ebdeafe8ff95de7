"""How long a test waits for something that normally comes at once: only a hang takes longer, even
on a busy machine.
"""

from dataclasses import replace

from pocket_slack import Limits

ONLY_A_HANG_S = 120.0
UNHURRIED = replace(Limits.off(), answer_within_s=ONLY_A_HANG_S)
"""The limits of a Slack that waits for the app as long as a test does."""
