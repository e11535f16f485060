"""The matrix of what clients reach, and what stands below it: the mesh, security, causes, changes."""
