"""Words of a person's own in a paper figure: matplotlib would take some of them as formulas or leave them out."""

from __future__ import annotations

# How matplotlib is told that a dollar is a dollar.
DOLLAR = r"\$"


def plain(text: str) -> str:
    r"""Return text that matplotlib draws as it is: a dollar opens no formula, a leading underscore hides no label.

    >>> plain("5 $ a $x^2$"), plain("_mine")
    ('5 \\$ a \\$x^2\\$', ' _mine')
    """
    return (" " if text.startswith("_") else "") + text.replace("$", DOLLAR)


def as_drawn(text: str) -> str:
    r"""Return plain text as matplotlib draws it.

    >>> as_drawn(plain("5 $ a $x^2$"))
    '5 $ a $x^2$'
    """
    return text.replace(DOLLAR, "$")
