"""Whether `/proc/PID/cgroup` or `/proc/PID/mountinfo` of a process proves it to be a certain container's."""


def proves_container(container_id: str, *, cgroup: str, mountinfo: str) -> bool:
    """Whether the full id stands in the process's cgroup paths, or in the source of a file the engine mounts.

    A pid alone proves nothing: an engine elsewhere numbers the processes of another kernel.
    """
    if len(container_id) != 64:
        return False
    if any(container_id in line for line in cgroup.splitlines()):
        return True
    return any(_mounted_from(line, container_id) for line in mountinfo.splitlines())


def _mounted_from(line: str, container_id: str) -> bool:
    """mountinfo(5): the fourth field is the path inside its file system, the fifth where it is mounted."""
    fields = line.split(" ")
    return (
        len(fields) > 4
        and f"/containers/{container_id}/" in fields[3]
        and fields[4] in ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
    )
