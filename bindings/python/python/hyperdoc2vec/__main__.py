"""The program hd2v, which the wheel carries."""

from __future__ import annotations

import sys
from typing import NoReturn

from hyperdoc2vec._native import main as run


def program() -> list[str]:
    """The command that starts hd2v."""
    return [sys.executable, "-m", "hyperdoc2vec"]


def main() -> NoReturn:
    """Runs hd2v with the arguments of this process."""
    sys.exit(run(program(), sys.argv[1:]))


if __name__ == "__main__":
    main()
