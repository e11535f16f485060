"""The native engine's table of messages says what `kafka.protocol` says."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOL = Path("tools", "generate_native_table.py")
SOURCE = Path("netdiag", "kafka", "protocol", "messages.json")
TARGET = Path("native", "wire", "src", "kafka", "messages.rs")


def _check(root: Path) -> tuple[int, str]:
    command = [sys.executable, str(root / TOOL), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout


def test_the_committed_table_is_made_of_messages_json() -> None:
    assert _check(ROOT) == (0, "")


def test_a_field_that_changes_is_told(tmp_path: Path) -> None:
    for path in (TOOL, SOURCE, TARGET):
        (tmp_path / path).parent.mkdir(parents=True)
        shutil.copy(ROOT / path, tmp_path / path)
    text = (tmp_path / SOURCE).read_text(encoding="utf-8")
    (tmp_path / SOURCE).write_text(text.replace('"name":"acks"', '"name":"ack"', 1), encoding="utf-8")
    status, said = _check(tmp_path)
    assert status == 1
    assert "generate_native_table.py" in said
