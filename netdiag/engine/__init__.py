"""The words of the Docker Engine API: containers, networks and published ports as values."""
