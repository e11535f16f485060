"""Tests of the compose vocabulary."""
