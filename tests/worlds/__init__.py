"""Random topologies on real engines: what is predicted against what happens, cell by cell."""
