"""Use of resources by jobs in the cluster: samples of the metrics API, kept with the records of the jobs."""
