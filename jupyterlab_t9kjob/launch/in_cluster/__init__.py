"""The launch form of a job in a cluster, which sees the lab's files through volumes: filling and checks."""
