"""Rows of a large table that a question cannot tell apart, made one before Spark sees them."""
