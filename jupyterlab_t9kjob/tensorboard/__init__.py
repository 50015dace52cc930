"""TensorBoards: child processes that show log directories, and the proxy to them."""
