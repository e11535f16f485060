"""Deployments for tests: from inline compose text, or built by hand."""

from collections.abc import Mapping
from functools import cache, lru_cache

from ruamel.yaml import YAML

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.project import Project
from netdiag.deployment.model.deployment import Deployment, Folder
from netdiag.deployment.sources.compose import from_compose
from netdiag.io.files.projects import store_tools
from tests.deployment.stores import made_stores


# The examples of the rules are asked for while tests are collected, and again by several tests.
@lru_cache(maxsize=256)
def deployment_of(text: str, *, path: str = "compose.yml", host_addresses: tuple[str, ...] = ()) -> Deployment:
    """The deployment of one compose file, with no .env and an empty environment; `x-files` are those beside it."""
    beside = files_beside(text)

    def folder(name: str) -> Folder | None:
        """Where files are named, a folder with one is anybody's, and others are not there."""
        if name.startswith("/") or "x-files" not in text:
            return None
        return Folder(exists=any(file.startswith(f"{name}/") for file in beside), mode=0o777)

    return from_compose(
        project_of(text, path=path),
        host_addresses=host_addresses,
        read=beside.get,
        stores=store_tools,
        folder=folder,
    )


@cache
def files_beside(text: str) -> Mapping[str, bytes]:
    """What an example has beside its compose file, by their names from there: `x-files` and `x-certificates`."""
    if "x-files" not in text and "x-certificates" not in text:
        return {}
    loaded = YAML(typ="safe", pure=True).load(text)
    return {
        **{name: content.encode() for name, content in loaded.get("x-files", {}).items()},
        **made_stores(loaded.get("x-certificates", {})),
    }


def project_of(text: str, *, path: str = "compose.yml") -> Project:
    """The project of one compose file, with no .env and an empty environment."""
    return load(Source(path, text), dotenv=None, environ={}, read=lambda _: None)


FIVE = """\
name: five
services:
  zookeeper:
    image: confluentinc/cp-zookeeper:7.9.2
    networks: [kafka]
{brokers}
networks:
  kafka:
"""

_BROKER = """\
  broker-{n}:
    image: confluentinc/cp-kafka:7.9.2
    networks: [kafka]
    ports: ["909{n}:909{n}"]
    environment:
      KAFKA_BROKER_ID: {n}
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: INTERNAL://{bind}:29092,EXTERNAL://{external}:909{n}
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://broker-{n}:29092,EXTERNAL://{host}:909{n}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
"""


def five_brokers(*, bind: str = "0.0.0.0", external: str = "0.0.0.0", host: str = "localhost") -> str:
    """The reference cluster in its ZooKeeper form as compose text; `bind` and `external` are the hosts bound."""
    brokers = "".join(_BROKER.format(n=n, bind=bind.format(n=n), external=external, host=host) for n in range(1, 6))
    return FIVE.format(brokers=brokers)
