"""What Triton has the C compiler build for the host: launchers and its way to the driver, kept for the cells to come.

Up to Triton 3.6 each kernel's signature costs a run of the C compiler, which is a third of a small cell. These modules are
glue between Python and the driver, named by the hash of their source; what a cell is about, the kernels themselves, is
compiled anew in every cell. TRITON_CACHE_MANAGER names this class; FLCE_HOST_MODULES the folder, which belongs to one
environment.
"""

import os
import tempfile

from triton.runtime.cache import FileCacheManager

VARIABLE = "FLCE_HOST_MODULES"


class HostModules(FileCacheManager):
    """The cell's private cache; host modules that it lacks are looked for in the folder, and added to it."""

    def get_file(self, filename):
        found = super().get_file(filename)
        kept = self._kept(filename) if found is None else None
        return kept if kept and os.path.isfile(kept) else found

    def put(self, data, filename, binary=True):
        path = super().put(data, filename, binary)
        kept = self._kept(filename)
        if kept and isinstance(data, bytes):
            try:
                _write(kept, data)
            except OSError:  # a full disk or a folder that went away: the cell has its own copy
                pass
        return path

    def _kept(self, filename):
        folder = os.environ.get(VARIABLE)
        return os.path.join(folder, self.key, filename) if folder and filename.endswith(".so") else None


def _write(path, data):
    """Whole or not at all, also for a cell that is killed here, and for two that come at once."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(unfinished, 0o555)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
