"""Runbooks that run: a symptom, the looks that tell its causes apart, and what each cause is mended by.

A playbook is data and can only look: its steps name actions out of a closed set, its conditions compare texts.
"""
