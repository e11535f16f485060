"""The programs by which kernels read messages, in files beside the kernels: to make them takes 0.1 s at each start."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile

from netdiag.io.kernels import fingerprint, folder
from netdiag.traffic.engine.compiled.program import Programs, packed, programs, unpacked

_TABLE = "netdiag.kafka.protocol"


def kept_programs(tables: Iterable[str], environment: Mapping[str, str] = os.environ) -> Programs:
    """Those for the tables that are wanted, from a file where there is a good one; else there is one from now on."""
    text = " ".join((fingerprint(), fingerprint(_TABLE), *sorted(tables)))
    place = Path(folder(environment), f"programs-{blake2b(text.encode(), digest_size=6).hexdigest()}")
    with suppress(OSError, ValueError):
        return unpacked(place.read_bytes())
    made = programs(tables)
    # Other processes may be reading, or writing the same.
    with suppress(OSError), NamedTemporaryFile(dir=place.parent, prefix=f"{place.name}-", delete=False) as file:
        try:
            file.write(packed(made))
            file.flush()
            os.replace(file.name, place)
        except OSError:
            os.unlink(file.name)
    return made
