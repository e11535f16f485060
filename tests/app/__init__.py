"""Tests of what a user does, without a terminal."""
