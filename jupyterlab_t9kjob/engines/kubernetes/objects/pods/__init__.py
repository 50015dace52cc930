"""Pods: their fields, their containers' runs, attempts and replicas made from them, and effective requests."""
