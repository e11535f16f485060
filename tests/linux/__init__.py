"""The words of Linux networking."""
