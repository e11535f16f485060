"""Topologies as text and pictures."""
