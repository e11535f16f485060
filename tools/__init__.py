"""Generators, the hooks of the site, and the survey of public files."""
