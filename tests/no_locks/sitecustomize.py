"""A machine whose file systems keep no locks: `flock` fails with the error number in NO_LOCKS_ERROR."""

import fcntl
import os


def _refuse(descriptor: int, how: int) -> None:
    number = int(os.environ["NO_LOCKS_ERROR"])
    raise OSError(number, os.strerror(number))


fcntl.flock = _refuse  # type: ignore[assignment]
