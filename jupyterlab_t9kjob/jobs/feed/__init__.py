"""The feed: changes of jobs, TensorBoards, engines and capacity, pushed to the subscribed pages."""
