"""Values to documents: text for terminals, pages, pictures, and formats that other programs read."""
