"""What the capture engine says of captures that do not change: the rows of small ones, hashes of the others."""
