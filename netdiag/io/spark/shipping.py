"""netdiag for executors that have not installed it: the package as an archive that Spark gives to every Python worker.

The examples stay behind. Names and dates in the archive are those of the package and of no day, so that the same
package makes the same bytes.
"""

import zipfile
from importlib.resources import files
from pathlib import Path

_DATES = (1980, 1, 1, 0, 0, 0)
_LEFT_BEHIND = frozenset({"data", "__pycache__"})


def package_archive(folder: Path) -> Path:
    """The package as a zip file in this folder."""
    root = Path(str(files("netdiag")))
    archive = folder / "netdiag.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and _LEFT_BEHIND.isdisjoint(inside.parts):
                entry = zipfile.ZipInfo(f"netdiag/{inside.as_posix()}", _DATES)
                entry.compress_type = zipfile.ZIP_DEFLATED
                written.writestr(entry, path.read_bytes())
    return archive
