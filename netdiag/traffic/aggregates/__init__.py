"""Questions about captures: each a function from DataFrames of the tables to a DataFrame with a declared schema."""
