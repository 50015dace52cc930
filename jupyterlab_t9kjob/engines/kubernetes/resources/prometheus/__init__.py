"""Samples from the cluster's Prometheus: metrics of cAdvisor, which kube-prometheus collects, and of NVIDIA's DCGM."""
