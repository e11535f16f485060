"""Memory that nobody needs any more, given back: the pages of the compiler when the kernels are there.

Nothing is lost: what is unchanged since it came out of the library's file comes out of it again when it is needed.
"""

import ctypes
import re
from contextlib import suppress
from pathlib import Path

COMPILER = "libllvmlite"
_MAPPINGS = Path("/proc/self/smaps")
_UNWANTED = 4  # MADV_DONTNEED of mman.h
_READ_ONLY = ("r--p", "r-xp")
_CHANGED = re.compile(r"^Private_Dirty: +(\d+)", re.MULTILINE)
_BEGIN = re.compile(r"\n(?=[0-9a-f]+-[0-9a-f]+ )")


def unchanged(text: str, library: str) -> list[tuple[int, int]]:
    """From where to where the pages of a library lie that cannot be written and were not, out of smaps (proc(5))."""
    found = []
    for mapping in _BEGIN.split(text):
        words = mapping.partition("\n")[0].split()
        changed = _CHANGED.search(mapping)
        if len(words) > 5 and library in words[5] and words[1] in _READ_ONLY and changed and changed[1] == "0":
            begin, _, end = words[0].partition("-")
            found.append((int(begin, 16), int(end, 16)))
    return found


def give_back(library: str = COMPILER) -> int:
    """Give back what a library has in memory, about 40 MB of the compiler; how many pieces of it there were."""
    count = 0
    with suppress(OSError, AttributeError):
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for begin, end in unchanged(_MAPPINGS.read_text(errors="replace"), library):
            count += advise(begin, end - begin, _UNWANTED) == 0
    return count
