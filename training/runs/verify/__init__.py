"""Verification of training runs, studies and token shards: finds damage by reading everything. Nothing is changed."""
