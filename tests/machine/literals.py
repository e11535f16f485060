"""A machine on which everything is there, to take things away from."""

from netdiag.machine import Found, Machine

WELL = Machine(
    system="Linux",
    kernel="6.1.0",
    families=("debian",),
    python="3.11.2",
    netdiag="1.0",
    is_root=True,
    rights=frozenset({"NET_ADMIN", "NET_RAW", "SYS_ADMIN", "SYS_PTRACE"}),
    engine=Found(what="Docker Engine 28.5.2"),
    namespaces=Found(what="entered one"),
    packet_socket=Found(what="a packet socket can be opened"),
    java=Found(what="Java in /usr/lib/jvm/x"),
    capture_engine=Found(what="netdiag_native 0.1.0"),
    tools={"tcpdump": "/usr/bin/tcpdump", "dumpcap": None, "tshark": None, "docker": "/usr/bin/docker"},
    libraries=dict.fromkeys(
        ("docker", "pyroute2", "dns", "cryptography", "scapy", "pyspark", "pyarrow", "pandas", "networkx"), "1"
    ),
    temporary="/tmp",
    free_bytes=100 << 30,
    memory_bytes=16 << 30,
)
