"""Recording what a kernel and iproute2 say of every recipe, for kernels that other machines do not have.

`python -m tests.netlab.record` prints a gzipped JSON document in base64: per recipe the payloads that the kernel sent,
as hexadecimal digits, and the documents that iproute2 printed right after. Standard library, ip and bridge are all it
needs, so that it runs in a virtual machine made of little else.
"""

import base64
import ctypes
import gzip
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.netlab.compare import compare
from tests.netlab.dumps import Dumps, facts, read_dumps
from tests.netlab.iproute2_output import COMMANDS, Iproute2Output, parse
from tests.netlab.recipes import RECIPES, Recipe, script

FOLDER = Path(__file__).with_name("recordings")
_NEW_NETWORK = 0x40000000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One recipe on one machine; `lacking` is what was said where the recipe was refused."""

    recipe: str
    kernel: str
    iproute2: str
    dumps: Dumps
    said: Iproute2Output
    lacking: str = ""


def recordings() -> Iterator[Recording]:
    """All that are in the repository."""
    for path in sorted(FOLDER.glob("*.json.gz")):
        document = json.loads(gzip.decompress(path.read_bytes()))
        for one in document["recipes"]:
            yield Recording(
                recipe=one["recipe"],
                kernel=document["kernel"],
                iproute2=document["iproute2"],
                dumps={name: tuple(map(bytes.fromhex, payloads)) for name, payloads in one["dumps"].items()},
                said=parse({name: text.encode("utf-8", "surrogateescape") for name, text in one["said"].items()}),
                lacking=one["lacking"],
            )


def record() -> dict[str, Any]:
    """Every recipe in a namespace of its own, one after the other."""
    iproute2 = subprocess.run(["ip", "-V"], capture_output=True, text=True, check=True).stdout.strip()
    return {
        "made_by": "python -m tests.netlab.record",
        "kernel": platform.release(),
        "iproute2": iproute2,
        "recipes": [_apart(recipe) for recipe in RECIPES],
    }


def _apart(recipe: Recipe) -> dict[str, Any]:
    """In a child process, whose namespace ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            json.dump(_recorded(recipe), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found: dict[str, Any] = json.load(pipe)
    os.waitpid(child, 0)
    return found


def _recorded(recipe: Recipe) -> dict[str, Any]:
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    done = subprocess.run(["sh", "-c", script(recipe)], capture_output=True, text=True)
    for words in recipe.words:
        subprocess.run(["ip", *words], capture_output=True)
    dumps, said = _settled(os.open("/proc/self/ns/net", os.O_RDONLY))
    return {
        "recipe": recipe.name,
        "lacking": done.stderr.strip() if done.returncode else "",
        "dumps": {name: [payload.hex() for payload in payloads] for name, payloads in dumps.items()},
        "said": said,
    }


def _settled(own: int) -> tuple[Dumps, dict[str, str]]:
    """Both readings, once nothing changes between them by itself, but after 20 tries as they are."""
    for _ in range(20):
        dumps = read_dumps(own)
        printed = {name: subprocess.run(line.split(), capture_output=True).stdout for name, line in COMMANDS.items()}
        if compare(facts(dumps), parse(printed)).equal:
            break
        time.sleep(0.5)
    return dumps, {name: text.decode("utf-8", "surrogateescape") for name, text in printed.items()}


if __name__ == "__main__":
    packed = gzip.compress(json.dumps(record()).encode(), mtime=0)
    sys.stdout.write(base64.encodebytes(packed).decode())
