"""Free and used resources of a cluster, counted from its nodes, pods and quotas."""
