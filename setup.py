"""What pyproject.toml cannot say: the pins of requirements.txt are the dependencies, and the example runs go along."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


def requirements() -> list[str]:
    """Return the pins of requirements.txt, without comments and pip's own options (`-e .`)."""
    lines = (line.strip() for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith(("#", "-"))]


class BuildWithExamples(build_py):
    """Build the packages, with examples/runs as glt/examples/runs; a checkout reads them where they are."""

    def run(self) -> None:
        """Build, then copy the examples; those of an earlier build are dropped."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "glt", "examples", "runs")
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(ROOT / "examples" / "runs", target)


setup(install_requires=requirements(), cmdclass={"build_py": BuildWithExamples})
