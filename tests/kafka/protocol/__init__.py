"""Tests of the protocol table, its reader and its writer."""
