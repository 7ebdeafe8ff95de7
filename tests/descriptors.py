"""Fewer file descriptors, for this process or one that it starts."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def descriptors(number: int) -> Iterator[None]:
    """This process, and what it starts, with so many; those that are open stay open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
