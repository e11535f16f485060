"""Captures in Spark: a session, and a data source that notebooks register."""
