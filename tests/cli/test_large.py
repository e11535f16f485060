"""A file of hundreds of brokers: every finding, no matrix, and time that does not grow with the cube of them."""

import time
from pathlib import Path

from netdiag.cli.declared import Settings, report_on
from netdiag.cli.surface import Surface
from netdiag.render.report import Report
from tests.deployment.stacks import five_brokers


def looked_at(folder: Path, count: int) -> tuple[Report, float]:
    """The report on a file of `count` brokers, and the CPU seconds that it took."""
    (head, first, *_) = five_brokers(bind="127.0.0.1").replace("networks:\n  kafka:\n", "").split("  broker-")
    block = "  broker-" + first
    many = "".join(
        block.replace("broker-1", f"broker-{n}").replace("BROKER_ID: 1\n", f"BROKER_ID: {n}\n")
        for n in range(1, count + 1)
    )
    file = folder / "compose.yml"
    file.write_text(head + many + "networks:\n  kafka:\n", encoding="utf-8")
    begin = time.process_time()
    report = report_on((str(file),), Settings(), Surface())
    return report, time.process_time() - begin


def test_a_matrix_that_nobody_could_read_is_left_out(tmp_path: Path) -> None:
    _, fewer = looked_at(tmp_path, 100)
    report, more = looked_at(tmp_path, 400)
    assert more / fewer < 30  # 4 with the number of brokers, 16 with its square, 64 with its cube
    assert len(report.inputs[0].brokers) == 400
    assert sum(f.rule == "listener-bound-to-loopback" for f in report.findings) == 400
    assert report.matrices == ()
    (note,) = report.notes
    assert "too large to read" in note
