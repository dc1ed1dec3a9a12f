"""What the emulated device was asked to run, phase by phase."""

MAX_GEMMS = 4096


class Log:
    """Reads the emulator's log at the end of each phase; `summary()` is the observation's `emulator`."""

    def __init__(self, emulator):
        self._emulator = emulator
        self._refused = {}
        self._unknown = []
        self._peak = 0
        self._out_of_memory = None
        self._phase = "start"
        self.events = []
        self.seen = False

    def begin(self, phase=""):
        """Forgets what was launched, not what was refused. `phase` names what follows in a traced run."""
        self.take()
        self._emulator.reset()
        self._phase = phase

    def take(self):
        """LAUNCHES since `begin`, or None."""
        log = self._emulator.read()
        if log is None:
            return None
        self.seen = True
        for item in log.get("refused") or ():
            key = item.get("api")
            # The log may or may not survive a reset: the larger count is the true one.
            self._refused[key] = max(self._refused.get(key, 0), int(item.get("count", 1)))
        for name in log.get("unknown_entry_points") or ():
            if name not in self._unknown:
                self._unknown.append(name)
        # Only a device whose profile says trace=1 tells the sequence.
        self.events += [{"phase": self._phase, **event} for event in log.get("sequence") or ()]
        self._peak = max(self._peak, int(log.get("peak_bytes") or 0))
        self._out_of_memory = log.get("out_of_memory") or self._out_of_memory
        gemms = log.get("gemms") or []
        kernels = log.get("kernels") or {}
        return {"gemms": gemms[:MAX_GEMMS], "gemm_count": int(log.get("gemm_count", len(gemms))), "kernels": kernels,
                "kernel_count": int(log.get("kernel_count", sum(kernels.values())))}

    def summary(self):
        if not self.seen:
            return None
        return {"refused": [{"api": api, "count": count} for api, count in sorted(self._refused.items())],
                "unknown_entry_points": self._unknown, "peak_bytes": self._peak, "out_of_memory": self._out_of_memory}
