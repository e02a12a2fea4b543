"""Kiln's engines as a Ray Serve application: replicas over the nodes of a cluster, behind the KServe v2 protocol."""
