"""Inventories and their joins, from literals."""
