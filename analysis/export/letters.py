"""What TeX takes as a command, or prints as another letter in its oldest font encoding (OT1), as it is typed in TeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

SPECIAL: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "`": r"\`{}",
    "^": r"\textasciicircum{}",
    # In OT1 these four print as two marks of Spanish, a dash and a closing quotation mark.
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    '"': "''",
    "\N{MINUS SIGN}": r"\ensuremath{-}",
    "\N{PLUS-MINUS SIGN}": r"\ensuremath{\pm}",
    "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
    "\N{MIDDLE DOT}": r"\ensuremath{\cdot}",
    "\N{SUPERSCRIPT MINUS}": r"\ensuremath{{}^-}",
    "\N{SUPERSCRIPT THREE}": r"\ensuremath{{}^3}",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{EM SPACE}": r"\quad ",
    "\N{NO-BREAK SPACE}": "~",
    "\N{ZERO WIDTH SPACE}": "{}",
}
# Letters beyond these stop pdflatex, unless the paper loads a package for their script.
LAST_LATIN = "\N{LATIN SMALL LETTER Z WITH CARON}"
# Those among them that OT1 does not have.
NOT_IN_OT1 = frozenset("«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲų")
# Two of them in a row would print as one dash or one quotation mark.
_PAIRS = re.compile(r"(?<=([-',]))(?=\1)")
UNKNOWN = "?"
_OPENING = re.compile(r'(?<!\S)"(?=\S)')


def escape(text: str) -> str:
    r"""Return text with everything made harmless that TeX would take as a command, print as another letter or refuse.

    >>> print(escape('p_g = 5% & more'), escape('"a" <b>'))
    p\_g = 5\% \& more ``a'' \ensuremath{<}b\ensuremath{>}
    >>> print(escape("--lr `x`"))
    -{}-lr \`{}x\`{}
    """
    apart = _PAIRS.sub("\N{ZERO WIDTH SPACE}", text)
    return "``".join("".join(map(_escaped, part)) for part in _OPENING.split(apart))


def _escaped(letter: str) -> str:
    if letter in SPECIAL:
        return SPECIAL[letter]
    return letter if letter <= LAST_LATIN and letter not in NOT_IN_OT1 else _plain(letter)


def _plain(letter: str) -> str:
    """Return the plain Latin letters that Unicode says a letter stands for, else a question mark."""
    parts = [part for part in unicodedata.normalize("NFKD", letter) if part.isascii()]
    return "".join(SPECIAL.get(part, part) for part in parts) or UNKNOWN
