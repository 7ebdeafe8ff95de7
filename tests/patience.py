"""How long a test waits for what comes at once, unless something hangs: the machine may be busy with other things."""

ONLY_A_HANG_S = 120.0
