"""Runs netdiag as on a system without POSIX: `python elsewhere.py ARGUMENTS`.

Modules and functions that Windows lacks are taken away once the standard library has settled on this system's; the
console is cp1252. What netdiag itself imports or calls from then on must be there everywhere.
"""

import importlib.abc
import os
import runpy
import signal
import sys
import tempfile
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

# Modules "availability: Unix" in the library reference.
POSIX_ONLY = {
    *("crypt", "curses", "fcntl", "grp", "nis", "ossaudiodev", "posix", "pty"),
    *("pwd", "readline", "resource", "spwd", "syslog", "termios", "tty"),
}
# Functions of `os` and signals that Windows does not have.
OS_ONLY = (
    *("chown", "chroot", "fork", "forkpty", "geteuid", "getegid", "getgid", "getgroups", "getlogin", "getpgid"),
    *("getppid", "getsid", "getuid", "initgroups", "killpg", "lchown", "mkfifo", "mknod", "openpty", "pathconf"),
    *("pipe2", "posix_spawn", "readv", "sched_getaffinity", "setns", "setsid", "statvfs", "sync", "sysconf"),
    *("uname", "unshare", "writev"),
)
SIGNALS = ("SIGKILL", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGWINCH", "SIGPIPE")


class Absent(importlib.abc.MetaPathFinder):
    """Finds nothing where Windows has nothing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """ModuleNotFoundError for a module that is not there; None hands over to the next finder."""
        if fullname.partition(".")[0] in POSIX_ONLY:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def take_away() -> None:
    """From here on this process lacks what Windows lacks, as far as that can be had here."""
    tempfile.gettempdir()
    for name in [name for name in sys.modules if name.partition(".")[0] in POSIX_ONLY - {"posix"}]:
        del sys.modules[name]
    sys.meta_path.insert(0, Absent())
    for function in OS_ONLY:
        if hasattr(os, function):
            delattr(os, function)
    for name in SIGNALS:
        if hasattr(signal, name):
            delattr(signal, name)


if __name__ == "__main__":
    take_away()
    sys.argv = ["netdiag", *sys.argv[1:]]
    runpy.run_module("netdiag", run_name="__main__", alter_sys=True)
