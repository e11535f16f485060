"""tcpdump in a namespace of the lab for the length of a block: the file, and what the kernel dropped."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.debian import find
from tests.lab.errors import LabError
from tests.lab.namespaces import Place

_LIMIT = 15.0


@dataclass(slots=True, kw_only=True)
class Sniffed:
    """One capture file; `dropped` is known when the block has ended."""

    file: Path
    dropped: int = -1


@contextmanager
def sniff(
    place: Place, interface: str, file: Path, *, filter_words: str = "", environment: dict[str, str]
) -> Iterator[Sniffed]:
    """Capture from `interface` as seen from `place`, whole packets, until the block ends."""
    binary = find("tcpdump")
    if binary is None:
        raise LabError("no tcpdump")
    options = ["-i", interface, "-s", "0", "-B", "32768", "-U", "-w", str(file), "-Z", "root", "-n"]
    words = place.argv([binary, *options, *filter_words.split()])
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)
    sniffed = Sniffed(file=file)
    try:
        _wait_for_start(process)
        yield sniffed
        # What just passed must get through the kernel's buffer.
        time.sleep(0.5)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()
    found = re.search(r"(\d+) packets? dropped by kernel", said)
    if found is None:
        raise LabError(f"tcpdump does not tell what it dropped: {said}")
    sniffed.dropped = int(found[1])


def _wait_for_start(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if "listening on" in line:
            return
    raise LabError(f"tcpdump did not start: {said}")
