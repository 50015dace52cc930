"""How the scheduler counts: nodes, queues, pod groups."""
