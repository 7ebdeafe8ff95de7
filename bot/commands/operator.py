"""Who types a command, as it is noted in the audit."""

import getpass
import os


def operator() -> str:
    """The operating system's user that this process belongs to: by name, else, as in many containers, by number."""
    if os.name == "nt":
        return f"os:{getpass.getuser()}"
    import pwd  # there is none elsewhere; it does not believe USER and LOGNAME, as getpass does

    try:
        return f"os:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"os:{os.getuid()}"
