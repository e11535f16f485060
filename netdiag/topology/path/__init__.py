"""The path of a connection, hop by hop: names, routes, filters and translations, predicted and attempted."""
