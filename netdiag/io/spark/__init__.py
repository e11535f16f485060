"""Captures in Spark: a session of our own, and a data source that notebooks register."""

from netdiag.io.spark.source import register

__all__ = ["register"]
