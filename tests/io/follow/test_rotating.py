"""What real recorders leave that rotate their files, followed while they do: the rows of one look at all files."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.recording import CannotRecord, apart
from tests.house.tree import ROOT
from tests.io.follow.folders import Following, expected, in_memory
from tests.tools import tool

PATIENCE = 120.0
FILES = 3


@pytest.mark.parametrize(
    ("recorder", "words"),
    [
        ("tcpdump", ("-G", "1", "-w", "cap-%s.pcap")),
        ("tcpdump", ("-C", "1", "-w", "cap.pcap")),
        ("dumpcap", ("-q", "-b", "filesize:200", "-w", "cap.pcapng")),
    ],
)
def test_a_recorder_that_rotates_is_followed(tmp_path: Path, recorder: str, words: tuple[str, ...]) -> None:
    path = tool(recorder)
    try:
        network = apart()
    except CannotRecord as error:
        pytest.skip(str(error))
    folder = tmp_path / "caps"
    folder.mkdir()
    words = (*words[:-1], str(folder / words[-1]))
    work, memory = in_memory(folder)
    following = Following(work)
    command = [*network, sys.executable, "-m", "tests.io.follow.rotating", path, *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=environment
    ) as recording:
        assert recording.stdin is not None
        end = time.monotonic() + PATIENCE
        while recording.poll() is None and time.monotonic() < end:
            if len(list(folder.iterdir())) >= FILES and following.plans:
                break
            following.batch()
            time.sleep(0.05)
        recording.stdin.close()
        assert recording.stderr is not None
        told = recording.stderr.read().decode()
        assert recording.wait() == 0, told
    taken = len(following.plans)
    following.all()
    assert len(list(folder.iterdir())) >= FILES, told
    assert taken > 0
    assert memory.tables() == expected(folder)
    assert len(memory.tables()["exchanges"]) > 100
