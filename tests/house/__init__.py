"""What the tree itself must keep: its layers, its shape, its packages, its documents."""
