"""The files of this repository: those that git tracks or would track."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "netdiag"


def files() -> list[Path]:
    """Every file that is committed or about to be, links included; ignored files are not ours."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return sorted(path for path in paths if path.is_symlink() or path.is_file())


def modules(*folders: str) -> list[Path]:
    """The Python files in these folders of the repository."""
    inside = [ROOT / folder for folder in folders]
    return [
        path
        for path in files()
        if path.suffix == ".py" and not path.is_symlink() and any(path.is_relative_to(folder) for folder in inside)
    ]


def name(path: Path) -> str:
    """A path as messages show it."""
    return path.relative_to(ROOT).as_posix()
