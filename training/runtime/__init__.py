"""Execution of training functions: in this process, on workers of Ray Train, or as trials of Ray Tune.

Only this package of `training` imports Ray.
"""
