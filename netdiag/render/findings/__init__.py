"""What documents share about findings: places, the source under a caret, fingerprints, edits."""
