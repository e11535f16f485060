"""What a walk foretells, held against what a real connection does: in namespaces that tests make, and in the lab."""
