"""The commands: argv in, text out, exit status."""
