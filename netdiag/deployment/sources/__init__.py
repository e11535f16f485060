"""What a deployment is read from: compose files, running containers, and the files and images that they name."""
