"""Jobs of this machine as the server sees them: stored records, and the API's views of them."""
