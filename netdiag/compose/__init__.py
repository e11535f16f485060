"""The words of the compose specification: compose files become values that know where they came from."""
