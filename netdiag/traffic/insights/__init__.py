"""Questions to the tables whose small answers wire rules judge."""
