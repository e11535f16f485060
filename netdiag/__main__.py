"""`python -m netdiag`."""

from netdiag.cli.main import run

if __name__ == "__main__":
    run()
