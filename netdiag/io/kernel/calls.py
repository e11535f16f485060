"""System calls that Python does not offer: entering a namespace, and finding the ones that no file leads to.

setns(2) moves one thread for good. Whoever enters namespaces does it in a thread made for it, by `apart`.
"""

import ctypes
import fcntl
import os
import struct
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

_CLONE_NEWNET = 0x40000000
# linux/sockios.h, asm-generic/socket.h, linux/if_tun.h
_SIOCGSKNS, _SOL_SOCKET, _SO_NETNS_COOKIE = 0x894C, 1, 71
_TUNGETDEVNETNS = 0x54E3
# asm-generic/unistd.h; the same on every architecture of today but Alpha
_PIDFD_GETFD, _LISTNS = 438, 470
_LISTED = 256
# struct ns_id_req of linux/nsfs.h, and the file handle of a namespace: id, type, inode
_ID_REQUEST = struct.Struct("=IIQIIQ")
_HANDLE = struct.Struct("=iiQII")
_NSFS_HANDLE_TYPE, _FD_NSFS_ROOT = 0xF1, -10003

T = TypeVar("T")


class Calls:
    """The C library, opened once for all that is asked of it."""

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None, use_errno=True)
        self._cookie = ctypes.c_uint64()
        self._length = ctypes.c_uint32()

    def enter(self, namespace: int) -> None:
        """Move the calling thread into the network namespace that is open as this descriptor."""
        self._checked(self._c.setns(ctypes.c_int(namespace), ctypes.c_int(_CLONE_NEWNET)))

    def take_descriptor(self, pidfd: int, descriptor: int) -> int:
        """A descriptor of our own for what another process has open (pidfd_getfd, Linux 5.6); it notices nothing."""
        number = self._c.syscall(
            ctypes.c_long(_PIDFD_GETFD), ctypes.c_int(pidfd), ctypes.c_int(descriptor), ctypes.c_uint(0)
        )
        return self._checked(number)

    def cookie(self, socket: int) -> int | None:
        """The cookie of the namespace in which a socket was made; None before Linux 5.14.

        Not by a socket object of Python's, which might set the flags that the socket shares with its owner.
        """
        self._length.value = 8
        failed = self._c.getsockopt(
            socket, _SOL_SOCKET, _SO_NETNS_COOKIE, ctypes.byref(self._cookie), ctypes.byref(self._length)
        )
        return None if failed else self._cookie.value

    def list_namespaces(self) -> Iterator[int]:
        """A descriptor for every active network namespace of the kernel (listns, Linux 6.19); OSError without it.

        The caller closes them. Sources: linux/nsfs.h, kernel/nscommon.c.
        """
        last = 0
        while True:
            request = ctypes.create_string_buffer(_ID_REQUEST.pack(_ID_REQUEST.size, 0, last, _CLONE_NEWNET, 0, 0))
            found = (ctypes.c_uint64 * _LISTED)()
            ctypes.set_errno(0)
            count = self._c.syscall(ctypes.c_long(_LISTNS), request, found, ctypes.c_size_t(_LISTED), ctypes.c_uint(0))
            if count < 0 and ctypes.get_errno() == 2:
                # ENOENT, not 0, says that there are no more
                return
            if self._checked(count) == 0:
                return
            for identity in found[:count]:
                handle = ctypes.create_string_buffer(_HANDLE.pack(16, _NSFS_HANDLE_TYPE, identity, 0, 0))
                descriptor = self._c.open_by_handle_at(
                    ctypes.c_int(_FD_NSFS_ROOT), handle, ctypes.c_int(os.O_RDONLY | os.O_CLOEXEC)
                )
                if descriptor >= 0:
                    yield descriptor
            last = found[count - 1]

    def _checked(self, result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result


def namespace_of_socket(socket: int) -> int:
    """The namespace in which a socket was made, opened; needs CAP_NET_ADMIN over it."""
    return fcntl.ioctl(socket, _SIOCGSKNS)


def namespace_of_tun(device: int) -> int:
    """The namespace in which the device of an open /dev/net/tun is now, opened (Linux 5.10)."""
    return fcntl.ioctl(device, _TUNGETDEVNETNS)


def apart(work: Callable[[], T]) -> T:
    """What `work` gives, in a thread of its own that ends with it; errors come out here."""
    results: list[T] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001  # handed to the caller's thread
            errors.append(error)

    thread = threading.Thread(target=call, name="namespaces", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
