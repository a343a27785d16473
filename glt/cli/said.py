"""What a person says about a run, as the command line prints it."""

from __future__ import annotations

from glt.store import KnownRun


def lines_about(run: KnownRun) -> list[str]:
    """Return what is said about a run, a line each: title, note, colour and whether it is hidden."""
    said = run.annotation
    lines = [said.title, *said.note.split("\n"), f"color: {said.color}" if said.color else ""]
    return [line for line in [*lines, "hidden" if said.hidden else ""] if line]


def print_about(run: KnownRun) -> None:
    """Print a run's name and what is said about it."""
    from rich.console import Console

    lines = lines_about(run) or ["nothing is said about it"]
    Console().print(
        "\n".join([run.reference, *(f"  {line}" for line in lines)]), highlight=False, markup=False, soft_wrap=True
    )
