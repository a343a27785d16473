"""Requests as no browser would send them: any path, any header, to the letter."""

from __future__ import annotations

import socket
from typing import NamedTuple
from urllib.parse import urlsplit

SECONDS = 60
WEBSOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


class Answer(NamedTuple):
    """The status, the headers by small name, and what came with them."""

    status: int
    headers: dict[str, str]
    body: bytes


def request(address: str, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
    """Send one request and return what is answered; a keyword `X_Name` is the header X-Name."""
    place = urlsplit(address)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = {"Host": place.netloc, "Connection": "close", "Content-Length": str(len(body)), **named}
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    with socket.create_connection((place.hostname, place.port), SECONDS) as connection:
        connection.sendall(head.encode("latin-1") + body)
        return _answer(connection)


def handshake(address: str, **headers: str) -> int:
    """Ask for the websocket that a page is drawn by, and return the status: 101 is yes."""
    place = urlsplit(address)
    lines = {"Host": place.netloc, **WEBSOCKET, **headers}
    head = (
        "GET /_stcore/stream HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    )
    with socket.create_connection((place.hostname, place.port), SECONDS) as connection:
        connection.sendall(head.encode())
        return int(connection.recv(64).split()[1])


def _answer(connection: socket.socket) -> Answer:
    content = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head, _, body = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    named = (line.partition(":")[::2] for line in lines)
    return Answer(int(first.split()[1]), {name.lower(): value.strip() for name, value in named}, body)
