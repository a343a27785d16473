"""Numbers as the command line prints them."""

from __future__ import annotations


def percent(share: float) -> str:
    """Return a fraction in percent with one decimal.

    >>> percent(0.807)
    '80.7 %'
    """
    return f"{100 * share:.1f} %"


def duration(seconds: float) -> str:
    """Return a time in its two largest units, with one decimal below ten seconds.

    >>> duration(8.41), duration(80), duration(7320)
    ('8.4 s', '1 min 20 s', '2 h 2 min')
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def file_size(count: int) -> str:
    """Return a number of bytes with a unit.

    >>> file_size(950), file_size(41_200_000)
    ('950 B', '41.2 MB')
    """
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def listing(numbers: list[int]) -> str:
    """Return "seed 0" or "seeds 0, 1, 2".

    >>> listing([0]), listing([0, 2])
    ('seed 0', 'seeds 0, 2')
    """
    return f"seed{'s' if len(numbers) != 1 else ''} {', '.join(map(str, numbers))}"
