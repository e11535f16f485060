"""A process, as far as the network is concerned."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process. `netns` is the inode of its network namespace, None where it cannot be read.

    `started` is its start in clock ticks since boot: with `pid` it names a process for good. `container_id` is what its
    cgroup says, "" for none. `argv` is kept for docker-proxy only; other programs' arguments may hold secrets.
    `state` is the letter of ps ("T": stopped by a signal), "" for others.
    """

    pid: int
    comm: str
    started: int
    netns: int | None
    parent: int = 0
    container_id: str = ""
    argv: tuple[str, ...] = ()
    state: str = ""
