"""What the compiler has in memory goes back, and it compiles all the same."""

import subprocess
import sys
from pathlib import Path

import pytest

from netdiag.io import unneeded
from netdiag.io.unneeded import give_back, unchanged

SMAPS = """7f00-7f10 r--p 00000000 fe:00 77 /lib/libllvmlite.so
Size: 16 kB
Private_Dirty:         0 kB
7f10-7f20 r-xp 00010000 fe:00 77 /lib/libllvmlite.so
Private_Dirty:         0 kB
7f20-7f30 r--p 00020000 fe:00 77 /lib/libllvmlite.so
Private_Dirty:        12 kB
7f30-7f40 rw-p 00030000 fe:00 77 /lib/libllvmlite.so
Private_Dirty:         0 kB
7f40-7f50 r-xp 00000000 fe:00 78 /lib/libc.so.6
Private_Dirty:         0 kB
7f50-7f60 rw-p 00000000 00:00 0
Private_Dirty:         4 kB
"""


def test_only_what_was_not_and_cannot_be_written_goes() -> None:
    assert unchanged(SMAPS, "libllvmlite") == [(0x7F00, 0x7F10), (0x7F10, 0x7F20)]
    assert unchanged(SMAPS, "libpython") == []
    assert unchanged("", "libllvmlite") == []


_SCRIPT = """
import re, sys
from pathlib import Path
import numba
from netdiag.io.unneeded import give_back

def held():
    return int(re.search(r"RssFile:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

@numba.njit
def doubled(value):
    return 2 * value

before = held()
count = give_back()
after = held()
assert doubled(4) == 8
assert doubled(4.5) == 9.0
print(count, before - after)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")
def test_the_compiler_goes_and_comes_again() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    count, kilobytes = map(int, done.stdout.split())
    assert count >= 2
    assert kilobytes > 5_000


def test_where_nobody_can_be_asked_all_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(unneeded, "_MAPPINGS", tmp_path / "smaps")
    assert give_back() == 0
