"""What a command is said to cost."""

import sys
from pathlib import Path

from tests.bench.running import Cost, cached, median, run, uncached

_HOLD = """
import subprocess, sys, time
held = bytearray(b"x") * (int(sys.argv[1]) << 20)
if len(sys.argv) > 2:
    subprocess.run([sys.executable, "-c", sys.argv[3], sys.argv[2]])
time.sleep(1)
"""


def test_memory_is_that_of_all_processes_and_not_of_ours() -> None:
    ballast = bytearray(b"x") * (300 << 20)
    alone = run([sys.executable, "-c", _HOLD, "60"])
    assert 60 < alone.together < 200 < len(ballast) >> 20
    both = run([sys.executable, "-c", _HOLD, "60", "90", _HOLD])
    assert both.largest < 150 <= both.together


def test_processor_time_is_that_of_children_too(tmp_path: Path) -> None:
    work = "import time\nwhile time.process_time() < 0.5: pass"
    cost = run([sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])"])
    assert cost.cpu >= 0.5
    assert cost.wall >= 0.5
    assert cost.status == 0


def test_output_and_status_are_kept(tmp_path: Path) -> None:
    output, errors = tmp_path / "output", tmp_path / "errors"
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert run([sys.executable, "-c", program], output=output, errors=errors).status == 3
    assert (output.read_text(), errors.read_text()) == ("out\n", "err\n")


def test_the_median_is_taken_figure_by_figure() -> None:
    costs = [Cost(status=0, wall=w, cpu=c, largest=m, together=m) for w, c, m in ((1, 9, 5), (2, 7, 6), (3, 8, 4))]
    assert median(costs) == Cost(status=0, wall=2, cpu=8, largest=6, together=6)


def test_a_file_is_whole_in_memory_or_out_of_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100_000)
    uncached(path)
    cached(path)
    assert path.read_bytes() == b"x" * 100_000
