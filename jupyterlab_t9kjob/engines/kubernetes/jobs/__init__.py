"""Jobs of the watched namespaces: their state, the records on disk, and the API's views of them."""
