"""The link to the process around the interpreter: stages and the emulated device.

Inside flce-worker the module `flce_native` answers; under a plain Python (unit tests, debugging a case by hand) stages
go to a file if one is named and there is no emulator.
"""

import json
import time

try:
    import flce_native as _native
except ImportError:
    _native = None


class Progress:
    """Stages reached, in order of first arrival. `mark` may be called from any thread and never raises."""

    def __init__(self):
        self.stages = []
        self.last = None
        self._started = time.monotonic()
        self._file = None

    def log_to(self, path):
        """Used only without flce_native, which writes the file itself."""
        if _native is None:
            self._file = path

    def mark(self, stage):
        if stage == self.last:
            return
        self.last = stage
        if stage not in self.stages:
            self.stages.append(stage)
        try:
            if _native is not None:
                _native.stage(stage)
            elif self._file is not None:
                with open(self._file, "a", encoding="utf-8") as out:
                    out.write(json.dumps({"stage": stage, "t": round(time.monotonic() - self._started, 3)}) + "\n")
        except Exception:  # a full disk must not change what the case does
            pass


_profile_in_force = None


class Emulator:
    """The preloaded device, or None-like answers on real hardware and with a library that has no read-back."""

    def __init__(self):
        self.present = _native is not None and _native.emulator_abi() is not None

    def set_profile(self, profile):
        """`profile`: an entry of cases/devices.json. Raises RuntimeError with the emulator's own words."""
        global _profile_in_force
        if not self.present or not profile:
            return
        text = profile_text(profile)
        # A cell forked from a warmed parent has the profile, and device memory, already.
        if text != _profile_in_force:
            _native.emulator_set_profile(text)
            _profile_in_force = text

    def reset(self):
        if self.present:
            _native.emulator_reset_log()

    def read(self):
        """The log since the last reset as a dict, or None."""
        if not self.present:
            return None
        text = _native.emulator_read_log()
        try:
            return json.loads(text) if text else None
        except ValueError:
            return None


_NOT_PROFILE_KEYS = ("id", "source", "note", "title", "aliases")


def profile_text(profile):
    """`key=value` lines, as FLCE_EMU_PROFILE holds them."""
    lines = []
    for key, value in profile.items():
        if key in _NOT_PROFILE_KEYS or value is None:
            continue
        lines.append(f"{key}={int(value) if isinstance(value, bool) else value}")
    return "\n".join(lines)
