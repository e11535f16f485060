"""pytest plugin: the one Spark session of a test run, started by the first test that asks for it."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from netdiag.errors import NetdiagError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[2]"


@pytest.fixture(scope="session")
def java() -> str:
    """The home of a Java that Spark runs on; a test that needs one is skipped where there is none."""
    # here, because pyspark comes along, which not every environment of these tests has
    from netdiag.io.java import java_home

    try:
        return java_home(os.environ)
    except NetdiagError as error:
        pytest.skip(f"no Java: {error}")


@pytest.fixture(scope="session")
def spark(java: str) -> Iterator["SparkSession"]:
    """A session on this machine, with filters handed to data sources."""
    from netdiag.io.spark.session import spark_session

    settings = {"spark.sql.python.filterPushdown.enabled": "true"}
    with spark_session(MASTER, partitions=2, settings=settings) as session:
        # A session of a test run is long: Java forgets what Python has dropped.
        gateway: Any = session.sparkContext._gateway
        gateway._gateway_client.gateway_property.enable_memory_management = True
        yield session
