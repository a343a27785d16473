"""Found first on PYTHONPATH: writes down whatever a process of ours wants of any other machine, and refuses it."""

from __future__ import annotations

import ipaddress
import os
import sys
from typing import Any

LOG = os.environ.get("GLT_NETWORK_LOG", os.devnull)
NAMED = {"localhost", "", None}


def _is_local(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if host in NAMED:
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
        line = f"{event} {host} in {' '.join(sys.argv)}\n".encode()
        descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, line)
        os.close(descriptor)
        raise OSError(f"{host} is not this machine")


sys.addaudithook(_watch)
