"""Kafka's own console tools without a JVM start per call: one JVM per place, at most four.

A console tool costs 1 to 3 s of processor time, nearly all of it the JVM's start. The JVMs here
run the tools' own main methods (images/client/Tools.java), several calls side by side.
"""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from pathlib import Path

from tests.lab.errors import LabError
from tests.lab.namespaces import Place
from tests.lab.run_record import MARK

MOST_JVMS = 4
_OPTIONS = (
    "-Xmx160m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    # The broker's: it holds most of what a client loads, and fits as the class path begins alike.
    "-XX:SharedArchiveFile=/opt/kafka/kafka.jsa",
    "-Xshare:auto",
    # Names change while a test stops and starts containers.
    "-Dsun.net.inetaddr.ttl=0",
    "-Dsun.net.inetaddr.negative.ttl=0",
    "-Dlog4j.configuration=file:/opt/lab/log4j.properties",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """How one call ended; `status` is None when it had not ended by its deadline."""

    status: int | None
    text: str


class JavaTools:
    """The pool of JVMs; close it at the end."""

    def __init__(self, root: Path, run_id: str) -> None:
        self._root = root
        self._run_id = run_id
        self._jvms: dict[Place, _Jvm] = {}
        self._changed = threading.Condition()

    def call(self, place: Place, tool: str, arguments: Sequence[str], timeout: float) -> Printed:
        """Run `tool`'s main from `place`."""
        jvm = self._borrow(place)
        try:
            return jvm.call(tool, arguments, timeout)
        finally:
            self._give_back(place, jvm)

    def close(self) -> None:
        """End every JVM."""
        with self._changed:
            for jvm in self._jvms.values():
                jvm.end()
            self._jvms.clear()

    def _borrow(self, place: Place) -> _Jvm:
        with self._changed:
            while True:
                jvm = self._jvms.pop(place, None)
                if jvm is not None and jvm.is_fit():
                    break
                if jvm is not None and jvm.users:
                    # Unfit but still in use: its users end it.
                    self._jvms[place] = jvm
                    self._changed.wait()
                    continue
                if jvm is not None:
                    jvm.end()
                if len(self._jvms) < MOST_JVMS or self._evict():
                    jvm = _Jvm(self._root, place, self._run_id)
                    break
                self._changed.wait()
            # Last in the dict: the order of use.
            self._jvms[place] = jvm
            jvm.users += 1
            return jvm

    def _evict(self) -> bool:
        for place, jvm in self._jvms.items():
            if jvm.users == 0:
                del self._jvms[place]
                jvm.end()
                return True
        return False

    def _give_back(self, place: Place, jvm: _Jvm) -> None:
        with self._changed:
            jvm.users -= 1
            if jvm.users == 0 and not jvm.is_fit() and self._jvms.get(place) is jvm:
                del self._jvms[place]
                jvm.end()
            self._changed.notify_all()


class _Jvm:
    """One JVM and the calls under way in it."""

    def __init__(self, root: Path, place: Place, run_id: str) -> None:
        path = (root / "opt/kafka/classpath").read_text() + ":/opt/lab/classes"
        command = ["java", *_OPTIONS, "-cp", path, "Tools"]
        self._process = subprocess.Popen(
            place.argv_in_root(root, command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, MARK: run_id, "LC_ALL": "C.UTF-8"},
        )
        self.users = 0
        self._number = 0
        self._abandoned = False
        self._waiting: dict[int, Future[Printed]] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def is_fit(self) -> bool:
        """Alive, and without a call that never ended."""
        return self._process.poll() is None and not self._abandoned

    def call(self, tool: str, arguments: Sequence[str], timeout: float) -> Printed:
        assert self._process.stdin is not None
        future: Future[Printed] = Future()
        with self._lock:
            self._number += 1
            number = self._number
            self._waiting[number] = future
            try:
                self._process.stdin.write("\t".join((str(number), tool, *arguments)) + "\n")
                self._process.stdin.flush()
            except OSError as error:
                raise LabError(f"the JVM of {tool} has ended: {error}") from error
        try:
            return future.result(timeout)
        except FutureTimeout:
            self._abandoned = True
            return Printed(status=None, text="")

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            number, status, printed = line.rstrip("\n").split("\t")
            text = base64.b64decode(printed).decode(errors="replace")
            with self._lock:
                future = self._waiting.pop(int(number))
            future.set_result(Printed(status=int(status), text=text))
        with self._lock:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(LabError("the JVM of the console tools has ended"))
