"""The analysis of captures: tables as text and JSON, and one page with charts."""
