"""Metavars of path arguments, which help pages show and `bitcipher submit` recognizes.

A relative path would refer to another file on a cluster, so `cluster.jobs.job_paths` translates these arguments.
"""

PATH = "PATH"
# The path of a build, where a command takes other paths, too.
BUILD = "BUILD"
# The path of a model or of a training run, where a command takes other paths, too.
MODEL = "MODEL"
# The name of a built-in recipe or tokenizer, or the path of a .json or .yaml file.
NAME_OR_PATH = "NAME_OR_PATH"
# The number of a version, or a path.
VERSION_OR_PATH = "VERSION_OR_PATH"
# An option of a recipe with a value, which can be a path.
SETTING = "NAME=VALUE"
# The path of a tokenizer of a kind.
KIND_AND_PATH = f"KIND={PATH}"
