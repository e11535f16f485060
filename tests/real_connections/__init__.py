"""What a walk predicts, held against what a real connection does: in namespaces that tests make, and in the lab."""
