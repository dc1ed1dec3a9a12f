"""Talks to `flce-worker --serve`: for tests and for running many cells by hand."""

import json
import os
import socket
import subprocess


class Zygote:
    """One flce-worker for one environment, Liger and fix. `variables` are the process's environment changes."""

    def __init__(self, worker, start, variables=None, stderr=None):
        self.warmed = []  # what the zygote told of its devices
        ours, theirs = socket.socketpair()
        self._process = subprocess.Popen([worker, "--serve", str(theirs.fileno())], pass_fds=[theirs.fileno()],
                                         env=dict(os.environ, **(variables or {})), stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=stderr)
        theirs.close()
        self._socket = ours
        self._lines = ours.makefile("r", encoding="utf-8")
        self.send({"format": 1, "start": start})
        self.ready = self.receive()

    @property
    def pid(self):
        return self._process.pid

    def send(self, message):
        self._socket.sendall((json.dumps(message) + "\n").encode())

    def receive(self):
        """The next line as a dict, None at the end."""
        line = self._lines.readline()
        return json.loads(line) if line else None

    def answers(self, requests, at_once=2):
        """Runs the requests, `at_once` in flight; yields (request, answer) as they end."""
        waiting, running = list(reversed(requests)), {}
        while waiting or running:
            while waiting and len(running) < at_once:
                request = waiting.pop()
                running[request["cell_id"]] = request
                self.send(request)
            answer = self.receive()
            if answer is None:
                raise RuntimeError("the zygote is gone")
            if "warmed" in answer:
                self.warmed.append(answer["warmed"])
            request = running.pop(answer.get("cell_id"), None)
            if request is not None:
                yield request, answer

    def close(self):
        self._lines.close()
        self._socket.close()
        return self._process.wait()
