"""Correct stacks of every image family, and every rule's defect put into each of them."""
