"""Reading small files of somebody else's root directory without being led out of it.

The tree belongs to a stranger: a link may point anywhere, a FIFO may block, a file may be endless. openat2(2)
resolves below the given directory as if it were `/`, follows no magic link, does not wait, and only regular files of
up to `LARGEST` bytes are read.
"""

import ctypes
import errno
import os
import stat

from netdiag.values import dataclass

LARGEST = 64 * 1024
_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_IN_ROOT = 0x10


class _OpenHow(ctypes.Structure):
    """struct open_how of linux/openat2.h."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignText:
    """The content; of a file that does not exist it is empty."""

    text: str
    exists: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """The file is there and cannot be used, and why."""

    because: str


def read_below(root: int, path: str) -> ForeignText | Unreadable:
    """The text of `path` below the directory `root` (a descriptor)."""
    try:
        descriptor = _open_in_root(root, path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return ForeignText(text="", exists=False)
        return Unreadable(because=f"/{path.lstrip('/')}: {os.strerror(error.errno or 0)}")
    try:
        return _read_regular(descriptor, path)
    except OSError as error:
        return Unreadable(because=f"/{path.lstrip('/')}: {os.strerror(error.errno or 0)}")
    finally:
        os.close(descriptor)


def _open_in_root(root: int, path: str) -> int:
    how = _OpenHow(
        os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS
    )
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(root),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return descriptor


def _read_regular(descriptor: int, path: str) -> ForeignText | Unreadable:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return Unreadable(because=f"/{path.lstrip('/')}: not a regular file")
    data = b""
    while len(data) <= LARGEST:
        chunk = os.read(descriptor, LARGEST + 1 - len(data))
        if not chunk:
            return ForeignText(text=data.decode("utf-8", errors="replace"))
        data += chunk
    return Unreadable(because=f"/{path.lstrip('/')}: larger than {LARGEST // 1024} KiB")
