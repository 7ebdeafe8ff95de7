"""A clock for measuring how long ago something was."""

import time


def clock_s() -> float:
    """Seconds that never go back and, where the system can tell, go on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
