"""An analysis as one HTML page that needs nothing else: insights first, then charts, then tables."""
