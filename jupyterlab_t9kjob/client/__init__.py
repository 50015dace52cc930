"""The services without a server: for the command line (`cli`), and for notebooks (`client.Client`)."""
