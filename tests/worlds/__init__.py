"""Random topologies on real engines: what is foretold against what happens, cell by cell."""
