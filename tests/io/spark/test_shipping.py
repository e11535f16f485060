"""The archive holds the package with what it reads, and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

from netdiag.io.spark.shipping import package_archive


def test_the_package_works_from_its_archive(tmp_path: Path) -> None:
    archive = package_archive(tmp_path)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import netdiag; from netdiag.traffic.tables import table; from netdiag.kafka.protocol import encode_request\n"
        "print(netdiag.__file__, len(table('exchanges').columns), len(encode_request(3, 12, 1, 'a', {'topics': None})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(archive)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.startswith(f"{archive}/netdiag/__init__.py ")


def test_examples_stay_behind_and_bytes_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    archive = package_archive(tmp_path)
    with zipfile.ZipFile(archive) as read:
        inside = read.namelist()
    assert all(name.startswith("netdiag/") for name in inside)
    assert not [name for name in inside if name.startswith("netdiag/data/") or name.endswith(".pyc")]
    assert archive.stat().st_size < 4_000_000
    assert archive.read_bytes() == package_archive(tmp_path / "again").read_bytes()
