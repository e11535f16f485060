"""pytest plugin: the one Spark session of a test run, started by the first test that asks for it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[2]"


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A session on this machine, with filters handed to data sources."""
    from netdiag.io.spark.session import spark_session

    settings = {"spark.sql.python.filterPushdown.enabled": "true"}
    with spark_session(MASTER, partitions=2, settings=settings) as session:
        yield session
