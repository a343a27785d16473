"""Changes the machine of a process that finds this folder on PYTHONPATH, as environment variables say.

NO_HOME: a user whom the system does not know, with no HOME and no entry for its number.
NO_LOCKS_ERROR: file systems without locks; `flock` fails with the error of this number.
GLT_NETWORK_LOG: the process may not reach any other machine; attempts are refused and written into this file.
"""

from __future__ import annotations

import fcntl
import ipaddress
import os
import pwd
import sys
from typing import Any

LOG = os.environ.get("GLT_NETWORK_LOG", os.devnull)


def _unknown(number: int) -> pwd.struct_passwd:
    raise KeyError(f"getpwuid(): uid not found: {number}")


def _no_lock(descriptor: int, how: int) -> None:
    number = int(os.environ["NO_LOCKS_ERROR"])
    raise OSError(number, os.strerror(number))


def _is_local(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if host in {"localhost", "", None}:
        return True
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        place = arguments[1]
        host = place[0] if isinstance(place, tuple) else None
    elif event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}:
        host = arguments[0]
    else:
        return
    if not _is_local(host):
        descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{event} {host} in {' '.join(sys.argv)}\n".encode())
        os.close(descriptor)
        raise OSError(f"{host} is not this machine")


if "NO_HOME" in os.environ:
    for variable in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME"):
        os.environ.pop(variable, None)
    pwd.getpwuid = _unknown
if "NO_LOCKS_ERROR" in os.environ:
    fcntl.flock = _no_lock  # type: ignore[assignment]
if "GLT_NETWORK_LOG" in os.environ:
    sys.addaudithook(_watch)
