"""Credentials of a cluster, read as kubectl reads them: service accounts, kubeconfigs, plugins, proxies and TLS."""
