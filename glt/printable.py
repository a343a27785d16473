"""Text that somebody brings, without what a terminal or a page would act on instead of showing it."""

from __future__ import annotations


def one_line(text: str) -> str:
    r"""Return text on one line, without characters that nobody sees and with single spaces.

    >>> one_line(" wide \n net\u202e ")
    'wide net'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def several_lines(text: str) -> str:
    r"""Return text without characters that nobody sees, its lines kept.

    >>> several_lines("a\x00b\nc ")
    'a b\nc'
    """
    return "\n".join(
        "".join(letter if letter.isprintable() else " " for letter in line).rstrip()
        for line in text.strip().split("\n")
    )
