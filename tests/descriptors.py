"""Limits the file descriptors of this process and of those that it starts."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def descriptors(number: int) -> Iterator[None]:
    """Limits this process, and those that it starts, to `number` descriptors; open ones stay open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
