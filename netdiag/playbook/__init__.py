"""Executable runbooks: a symptom, the steps that tell its causes apart, and the repair of each cause.

A playbook is data and can only look: its steps name actions from a fixed set, and its conditions compare texts.
"""
