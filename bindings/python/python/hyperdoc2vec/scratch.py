"""Files that live as long as the objects that need them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref


class Scratch:
    """A directory that is removed with this object."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="hyperdoc2vec-")
        weakref.finalize(self, _remove, self.folder, os.getpid())

    def path(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.folder, name)


def _remove(folder: str, owner: int) -> None:
    # The copy of this object in a forked child goes away before the parent is done with its own.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
