"""Deployments that CI jobs and command lines make: workflows of GitHub, pipelines of GitLab, `docker run` lines."""
