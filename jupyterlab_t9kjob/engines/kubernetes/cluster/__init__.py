"""One cluster: the connection, its watches, what this account may do, and what the nodes have."""
