"""Names of the files of a training run."""

CONFIG = "run.json"
RECIPE = "recipe.yaml"
EMBEDDING_INIT = "embedding_init.json"
TOKENIZER = "tokenizer.json"
METRICS = "metrics.jsonl"
CHECKPOINTS = "checkpoints"
# Field of the configs of runs with their inputs.
INPUTS = "inputs"
# Written at the end of a trial of a study.
ENDED = "ended.json"
