"""Deployments from Kubernetes manifests: resources of Strimzi, and pods with the Services that lead to them."""
