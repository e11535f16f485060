"""Judgement: one module per rule."""
