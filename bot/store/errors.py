"""What reading or writing the database raises, and the reasons that the database gives."""

import re
import ssl

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

# https://www.postgresql.org/docs/current/errcodes-appendix.html; the quotation marks are those of
# any language
_LOGIN_REFUSED = "28"
_QUOTED = re.compile('\\A([^"«»„“]*)["«»„“].*["«»”“]')


class NoAnswerError(OSError):
    """The database did not answer in time; unlike asyncpg's bare `TimeoutError`, no one takes it
    for Slack's.
    """


STORE_ERRORS = (DBAPIError, PoolTimeoutError, OSError)
"""What the store raises while the database is away, locked or full, or all connections are taken."""


def reason_of(error: BaseException) -> str:
    """The reason given by the database, or by the connection to it: part of a sentence, on one
    line, and never empty.

    It does not name a user that the server refuses, because people have put the password in that
    place.
    """
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(error, DBAPIError) and cause is not None and cause.__cause__ is not None:
        cause = cause.__cause__  # SQLAlchemy puts the name of a class before asyncpg's message
    # The lines after PostgreSQL's first may quote a row, and with it the texts.
    said = next(iter(str(cause).splitlines()), "") or "no answer in time"
    if str(getattr(cause, "sqlstate", None)).startswith(_LOGIN_REFUSED):
        said = _QUOTED.sub(r"\1…", said)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"{said}; name the certificate of its authority with sslrootcert=FILE"
    if isinstance(cause, FileNotFoundError):
        return f"{said}: a certificate that an option names, or the server's socket"
    return said
