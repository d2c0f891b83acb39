"""Figures that follow the changes: each follower derives its rows anew from the documents that became dirty.

A unit of work stores which documents it made dirty (db.dirty_documents) in its own transaction. Followers read these
changes after the commit, in order and none twice, and store their rows together with their place.

Other rooms may import what stands here.
"""

from engine.followers.freshness import Freshness, freshness
from engine.followers.runner import FollowerRunner, catch_up

__all__ = ["FollowerRunner", "Freshness", "catch_up", "freshness"]
