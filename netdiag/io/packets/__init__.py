"""Packets off the wire into files: sockets, filters, engines, writers. Nothing here looks into a packet."""
