"""What the lab raises when it cannot do what a test asked for."""

from __future__ import annotations


class LabError(Exception):
    """The lab tried and failed; the message holds what the failing tool printed."""


class LabImpossible(LabError):
    """This machine or user cannot run the lab at all (no root, no veth, ...)."""
