"""Numbers, cells and commands as people read them: one format and one rounding everywhere.

**The rounding rule.** A number is read at twelve significant digits, which removes the noise of summing in another
order (0.8194999999999999 is 0.8195), then rounded in decimal, halves away from zero. So 0.8195 is 82.0 %. Usual formats
(`f"{x:.1f}"`, d3's, JavaScript's `toFixed`) round the binary value, which is above or below the half by chance; nothing
shown goes through them. What a browser formats itself (Plotly's hovers, Streamlit's tables) gets texts, or numbers
rounded here. CSV and JSON are not rounded.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import site
import sys
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from pathlib import Path

MINUS = "\N{MINUS SIGN}"
NO_BREAK = "\N{NO-BREAK SPACE}"
MISSING = "\N{EN DASH}"
# Labels that begin with a person's name keep their capital letter.
PEOPLE = ("Gini",)
# Significant digits of a double that are read; sums of a hundred numbers in another order agree in them.
DIGITS = 12
# p-values up to this are significant.
SIGNIFICANT = 0.05
# Wide enough for the largest double with every decimal that is shown.
WIDE = Context(prec=340)
# What a spreadsheet takes for the beginning of a formula, the wide forms of some editions too; spaces before it count
# for nothing, and a tab or a new line moves what follows to a cell of its own.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
SPACES = " \xa0"
NUMBERS = re.compile(r"([+-]?[\d.]+(e[+-]?\d+)?( |$))+", re.ASCII | re.IGNORECASE)


def rounded(value: float, decimals: int) -> float:
    """Return the number that `fixed` writes, for tables that a browser formats; NaN and infinities stay.

    >>> rounded(81.95, 1), rounded(-0.05, 1), rounded(0.8194999999999999, 3)
    (82.0, -0.1, 0.82)
    """
    return float(_to_decimals(value, decimals)) if math.isfinite(value) else value


def fixed(value: float, decimals: int) -> str:
    """Write a number with this many decimals, thousands commas and a true minus sign; NaN becomes a dash.

    >>> fixed(81.95, 1), fixed(81.94999999999999, 1), fixed(0.25, 1), fixed(-1234.5, 0), fixed(-0.01, 1)
    ('82.0', '82.0', '0.3', '−1,235', '0.0')
    """
    return true_minus(_plain(value, decimals, ","))


def figures(value: float, digits: int) -> str:
    """Write a number with this many significant figures, without trailing zeros; NaN becomes a dash.

    >>> figures(0.03125, 3), figures(1234.5, 4), figures(-3.15e-7, 2), figures(2.0, 3)
    ('0.0313', '1235', '−3.2e−07', '2')
    """
    if not math.isfinite(value) or value == 0:
        return _plain(value, 0)
    exact = _exact(value)
    kept = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_HALF_UP, WIDE)
    return true_minus(f"{float(kept):.{digits}g}")


def p_value(p: float) -> str:
    """Write a p-value with two figures, more if rounding would cross 5 %; tiny ones as a bound.

    >>> p_value(0.0123), p_value(0.0004), p_value(1.0), p_value(0.0503), p_value(float("nan"))
    ('p = 0.012', 'p < 0.001', 'p = 1', 'p = 0.0503', '')
    """
    if math.isnan(p):
        return ""
    if p < 0.001:
        return "p < 0.001"
    texts = (figures(p, digits) for digits in range(2, DIGITS + 1))
    return f"p = {next((text for text in texts if (float(text) <= SIGNIFICANT) == (p <= SIGNIFICANT)), p)}"


def percent(share: float, decimals: int = 1) -> str:
    """Write a fraction as a percentage; NaN becomes a dash.

    >>> percent(0.807), percent(0.8195), percent(-0.0004), percent(float("nan"))
    ('80.7 %', '82.0 %', '0.0 %', '–')
    """
    return MISSING if math.isnan(share) else f"{signed_text(100 * share, decimals)} %"


def percent_interval(mean: float, half_width: float, decimals: int = 1) -> str:
    """Write a mean and the half-width of its interval, both fractions; without a NaN half-width.

    >>> percent_interval(0.807, 0.0042), percent_interval(0.807, float("nan"))
    ('80.7 ± 0.4 %', '80.7 %')
    """
    if math.isnan(mean) or math.isnan(half_width):
        return percent(mean, decimals)
    return f"{signed_text(100 * mean, decimals)} ± {fixed(100 * half_width, decimals)} %"


def points(difference: float, decimals: int = 1) -> str:
    """Write a difference of two fractions in percentage points, always with its sign.

    >>> points(-0.0123), points(0.004), points(0.0)
    ('−1.2 points', '+0.4 points', '0.0 points')
    """
    if math.isnan(difference):
        return MISSING
    text = signed_text(100 * difference, decimals)
    plus = "+" if difference > 0 and float(text.replace(MINUS, "-")) > 0 else ""
    return f"{plus}{text} points"


def points_interval(difference: float, half_width: float) -> str:
    """Write a difference of fractions and the half-width of its interval in points; NaN is left out.

    >>> points_interval(-0.0123, 0.004), points_interval(0.004, float("nan"))
    ('−1.2 ± 0.4 points', '+0.4 points')
    """
    text = points(difference)
    return text if math.isnan(half_width) else text.replace(" points", f" ± {fixed(100 * half_width, 1)} points")


def whole(number: float) -> str:
    """Write a whole number that may be missing.

    >>> whole(3.0), whole(float("nan"))
    ('3', '–')
    """
    return MISSING if math.isnan(number) else signed_text(number, 0)


def macs(count: float) -> str:
    """Write multiply-accumulate operations in millions (k below one million, G and T from ten thousand of the last).

    >>> macs(826.6e6), macs(1996.6e6), macs(35.13e6), macs(7.4e6), macs(412_000), macs(3.2e10), macs(1.15e13)
    ('827 M', '1997 M', '35.1 M', '7.40 M', '412 k', '32.0 G', '11.5 T')
    """
    if math.isnan(count):
        return MISSING
    if count >= 9_999.5e9:
        return f"{_three_figures(count / 1e12)} T"
    if count >= 9_999.5e6:
        return f"{_three_figures(count / 1e9)} G"
    if count >= 999.5e3:
        return f"{_three_figures(count / 1e6)} M"
    return f"{_plain(count / 1e3, 0)} k" if count >= 999.5 else _plain(count, 0)


def duration(seconds: float) -> str:
    """Write a time span with at most two units.

    >>> duration(80), duration(0.25), duration(3.21), duration(3725), duration(200_000)
    ('1 min 20 s', '250 ms', '3.2 s', '1 h 2 min', '2 d 7 h')
    """
    if math.isnan(seconds):
        return MISSING
    if seconds < 0.9995:
        return f"{_plain(1000 * seconds, 0)} ms"
    if seconds < 9.95:
        return f"{_plain(seconds, 1)} s"
    whole = int(_to_decimals(seconds, 0))
    for unit, large, small, per in (("d", 86_400, 3_600, "h"), ("h", 3_600, 60, "min"), ("min", 60, 1, "s")):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {unit}" + (f" {rest} {per}" if rest else "")
    return f"{whole} s"


def file_size(size: float) -> str:
    """Write a number of bytes in decimal units.

    >>> file_size(870), file_size(90_400), file_size(7_960_000)
    ('870 B', '90.4 kB', '7.96 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= 0.9995 * scale:
            return f"{_three_figures(size / scale)} {unit}"
    return f"{_plain(size, 0)} B"


def count(number: float) -> str:
    """Write a whole number with commas between thousands.

    >>> count(13264), count(-1200)
    ('13,264', '−1,200')
    """
    return fixed(number, 0)


def number_of(number: int, noun: str) -> str:
    """Write how many there are of something.

    >>> number_of(1, "run"), number_of(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")


def opening(words: str) -> str:
    """Capitalise the first letter of a sentence; abbreviations stay as they are.

    >>> opening("test ROC-AUC"), opening("UGS")
    ('Test ROC-AUC', 'UGS')
    """
    return words[:1].upper() + words[1:]


def inside(label: str) -> str:
    """Return a label as it stands inside a sentence: only its first letter may be made small.

    >>> inside("Random pruning"), inside("UGS"), inside("MACs"), inside("Gini of degrees")
    ('random pruning', 'UGS', 'MACs', 'Gini of degrees')
    """
    is_name = label[1:2].isupper() or label.startswith(PEOPLE)
    return label if is_name else label[:1].lower() + label[1:]


def listing(seeds: Sequence[int]) -> str:
    """Name seeds as "seed 0" or "seeds 0, 1, 2".

    >>> listing([0]), listing([0, 2])
    ('seed 0', 'seeds 0, 2')
    """
    return f"seed{'s' if len(seeds) != 1 else ''} {', '.join(map(str, seeds))}"


def spans(numbers: Sequence[int]) -> str:
    """Write ascending whole numbers; three or more in a row become a range.

    >>> spans([1, 2, 5, 6, 7, 9]), spans([3])
    ('1, 2, 5 to 7, 9', '3')
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    words = [f"{row[0]} to {row[-1]}" if len(row) > 2 else ", ".join(map(str, row)) for row in rows]
    return ", ".join(words)


def cell(value: object) -> object:
    r"""Return a value for a spreadsheet cell; text that it would compute gets a leading '.

    >>> cell("=1+1"), cell("@a"), cell("-0.5"), cell(-0.5), cell("ugs")
    ("'=1+1", "'@a", '-0.5', -0.5, 'ugs')
    """
    if not isinstance(value, str):
        return value
    # Writers of CSV leave a lone return as it is, and readers begin a row after it.
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    if not value.lstrip(SPACES).startswith(FORMULA_STARTS) or NUMBERS.fullmatch(value):
        return value
    return f"'{value}"


def signed_text(value: float, decimals: int) -> str:
    """Write a number with a true minus sign, without commas or minus zero; NaN becomes a dash.

    >>> signed_text(-1.25, 1), signed_text(-0.01, 1), signed_text(1234.0, 0)
    ('−1.3', '0.0', '1234')
    """
    return true_minus(_plain(value, decimals))


def true_minus(text: str) -> str:
    """Replace minus signs in a number and its exponent by true ones.

    >>> true_minus("-1,200"), true_minus("-3.1e-07")
    ('−1,200', '−3.1e−07')
    """
    return text.replace("-", MINUS)


def _three_figures(value: float) -> str:
    if value >= 99.95:
        return _plain(value, 0)
    return _plain(value, 1 if value >= 9.995 else 2)


def _plain(value: float, decimals: int, thousands: str = "") -> str:
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    number = _to_decimals(value, decimals)
    return f"{abs(number) if number == 0 else number:{thousands}.{decimals}f}"


def _to_decimals(value: float, decimals: int) -> Decimal:
    return _exact(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, WIDE)


def _exact(value: float) -> Decimal:
    """Return the decimal of a number: whole numbers exactly, others at DIGITS digits."""
    return Decimal(int(value)) if float(value).is_integer() else Decimal(f"{value:.{DIGITS}g}")


# Commands.

ROOT = Path(__file__).resolve().parents[1]


@lru_cache(maxsize=1)
def program() -> tuple[str, ...]:
    """Return how to call the program: `glt`, or `python -m glt` if the console script is missing."""
    beside = Path(sys.executable).with_name("glt")
    return ("glt",) if beside.exists() or shutil.which("glt") else ("python", "-m", "glt")


def as_typed(*arguments: object) -> str:
    """Return the command line of a verb with these arguments, quoted for a shell.

    >>> as_typed("resume", "my runs/a").endswith("glt resume 'my runs/a'")
    True
    """
    return shlex.join([*program(), *map(str, arguments)])


def own_environment() -> dict[str, str]:
    """Return the environment in which `python -m glt...` runs this copy of the program.

    By default `python -m` looks into the working folder first and would run anything called `glt` there; Python 3.10
    always does. A copy that is not installed is put on the path.
    """
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    if ROOT not in [Path(folder).resolve() for folder in site.getsitepackages()]:
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(path)
    return environment
