"""The server asks nothing of the network: Streamlit would, to compare a foreign page's origin with its own address."""

from __future__ import annotations

from streamlit import net_util

LOCAL = "127.0.0.1"


def stay() -> None:
    """Answer for Streamlit what the addresses of this machine are: it is reached by its own name, or not at all.

    Before it refuses a page that is served elsewhere, Streamlit asks checkip.amazonaws.com for the address by which
    others see this machine. Any page in the browser could so make the server send a request.
    """
    net_util.get_external_ip = net_util.get_internal_ip = _local


def _local() -> str:
    return LOCAL
