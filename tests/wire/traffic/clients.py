"""Client programs as processes inside the lab: what they tell, and the words to tell them."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.lab.errors import LabError
from tests.lab.namespaces import Place
from tests.lab.processes import start_time, tail

# A busy machine starts a JVM in half a minute.
_PATIENCE = 120.0
Event = Mapping[str, Any]


class Client:
    """A running program that tells JSON objects, one a line, and hears words on standard input."""

    def __init__(self, place: Place, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.command = tuple(command)
        self._process = subprocess.Popen(
            place.argv(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=dict(environment),
        )
        self.events: list[Event] = []
        self.lines: list[str] = []
        self._errors: list[str] = []
        self._news = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._hear, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def tell(self, word: str) -> None:
        """A line on its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()

    def wait_for(self, what: str, holds: Callable[[list[Event]], bool], limit: float = _PATIENCE) -> None:
        """Until `holds` of the events so far."""
        until = time.monotonic() + limit
        with self._news:
            while not holds(self.events):
                if not self._news.wait(max(0.0, min(0.5, until - time.monotonic()))) and (
                    time.monotonic() > until or self._process.poll() is not None
                ):
                    if holds(self.events):
                        return
                    raise LabError(f"{self.name}: no {what}: {self.said()}")

    def wait_event(self, event: str, limit: float = _PATIENCE, after: int = 0) -> Event:
        """The first event of this name after the first `after` events."""
        self.wait_for(event, lambda events: any(one["event"] == event for one in events[after:]), limit)
        return next(one for one in self.events[after:] if one["event"] == event)

    def last(self, event: str) -> Event:
        """The last event of this name."""
        found = [one for one in self.events if one["event"] == event]
        if not found:
            raise LabError(f"{self.name}: no {event}: {self.said()}")
        return found[-1]

    def close(self, limit: float = _PATIENCE) -> Event:
        """Ask it to end; what it told at the end."""
        self.tell("close")
        return self.end(limit)

    def end(self, limit: float = _PATIENCE) -> Event:
        """Wait until it ends by itself; what it told at the end."""
        self.wait_exit(limit)
        return self.last("closed")

    def wait_exit(self, limit: float = _PATIENCE) -> str:
        """Wait until it ends well; everything it printed."""
        try:
            status = self._process.wait(limit)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{self.name} does not end: {self.said()}") from error
        for reader in self._readers:
            reader.join(5)
        if status != 0:
            raise LabError(f"{self.name}: exit {status}: {self.said()}")
        return "\n".join(self.lines)

    def signal(self, number: signal.Signals) -> None:
        """A signal to the program itself, which exec has put in the place of the shells before it."""
        if self._process.poll() is None:
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        """End it without letting it say goodbye."""
        if self._process.poll() is None and start_time(self._process.pid) is not None:
            self._process.kill()
        self._process.wait(10)

    @property
    def name(self) -> str:
        """For messages."""
        found = re.search(r'"client[._]id": "([^"]+)"', " ".join(self.command))
        return found[1] if found else " ".join(self.command)[-120:]

    def said(self) -> str:
        """The end of what it printed."""
        return tail("\n".join(self.lines[-20:]) + "\n" + "\n".join(self._errors[-30:]))

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                if line.startswith('{"event"'):
                    self.events.append(json.loads(line))
                self._news.notify_all()

    def _hear(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors.append(line.rstrip("\n"))


class Clients:
    """Starts programs; whatever still runs at the end is killed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._running: list[Client] = []

    def start(self, place: Place, command: Sequence[str]) -> Client:
        """A program from `place`."""
        client = Client(place, command, self._environment)
        self._running.append(client)
        return client

    def kill_all(self) -> None:
        """The end."""
        for client in self._running:
            client.kill()


@contextmanager
def clients(environment: Mapping[str, str]) -> Iterator[Clients]:
    """Programs for a block."""
    made = Clients(environment)
    try:
        yield made
    finally:
        made.kill_all()
