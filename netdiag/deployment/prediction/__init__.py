"""What a client would get at every vantage and bootstrap address, from declarations alone."""
