"""Bundles as zip files: written whole or not at all, read with bounds."""

import io
import zipfile
import zlib

from netdiag.errors import InputError
from netdiag.io.files import read_file, write_file
from netdiag.playbook.bundle import LARGEST, Bundle, from_json

_NAME = "bundle.json"
_PAGE = "diagnosis.md"
# The same bundle is the same bytes, whenever it was written.
_WHEN = (1980, 1, 1, 0, 0, 0)


def write_bundle(path: str, document: str, page: str) -> None:
    """Write a bundle: the document, and the same to be read."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in ((_NAME, document), (_PAGE, page)):
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    write_file(path, made.getvalue())


def read_bundle(path: str) -> Bundle:
    """The bundle in a file; InputError where there is none."""
    data = read_file(path, limit=LARGEST)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(_NAME) as entry:
            text = entry.read(LARGEST + 1)
    except KeyError as error:
        raise InputError(f"holds no {_NAME}", where=path, hint="give what --bundle wrote") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        raise InputError("is no bundle of netdiag", where=path, hint="give what --bundle wrote") from error
    if len(text) > LARGEST:
        raise InputError(f"unfolds to more than {LARGEST >> 20} MiB", where=path)
    return from_json(text, path)
