"""Executors: where the parts of a job run, in the worker's own process or on a Ray cluster.

The queue of jobs stays the front door: a worker leases a job, and hands its parts to the executor of the deployment
(GLOSSATOR_ENGINE). `executor` is the interface, `local` and `on_ray` implement it, and nothing else knows Ray.
"""
