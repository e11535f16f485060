"""How each image family turns environment variables into broker properties."""
