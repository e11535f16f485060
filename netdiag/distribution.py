"""What netdiag is called on the package index, whether it is there, and how each of its extras is installed.

The import name and the command are `netdiag`. On the package index that name is another project's: whoever installs it
gets foreign code. So no text of ours asks an installer for it, and until our names are published, for none of them.
"""

NAME = "netdiag-kafka"
NATIVE_NAME = "netdiag-kafka-native"
"""The compiled part, whose module is `netdiag_native`."""
PUBLISHED = False
"""Whether the package index has our names. Whoever changes this is told by the tests which pages to change with it."""

LIBRARIES = {
    "live": ("docker", "requests", "pyroute2", "cryptography"),
    "capture": ("scapy",),
    "spark": ("pyspark", "py4j", "pyarrow", "pandas", "numpy"),
    "picture": ("networkx",),
    "report": ("vl_convert",),
    "metrics": ("prometheus_client",),
    "lsp": ("pygls", "lsprotocol", "cattrs", "attrs"),
    "mcp": ("mcp", "mcp_types", "pydantic", "anyio", "starlette", "httpx2"),
}
"""The modules that each extra brings."""


def install_command(*extras: str) -> str:
    """The command that installs netdiag with these extras; until it is published, from the clone it is run in."""
    words = f"[{','.join(extras)}]" if extras else ""
    what = f"{NAME if PUBLISHED else '.'}{words}"
    return f"pip install '{what}'" if words else f"pip install {what}"


def install_line(*extras: str) -> str:
    """The same with the place to run it in, for a hint.

    The command ends the line: a word behind it, copied along, would be one more package to install.
    """
    command = install_command(*extras)
    return command if PUBLISHED else f"in a clone of netdiag, run {command}"


def native_line() -> str:
    """The command that installs the capture engine, with the place to run it in, for a hint."""
    if PUBLISHED:
        return f"pip install {NATIVE_NAME}"
    return "in a clone of netdiag, run pip install ./native/python"
