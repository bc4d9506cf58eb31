"""Estimate of the cost of a build: CPU, memory, storage and time.

sample          sample of a corpus, partitioned into parts that double in size
calibrate       runs of the stages on the parts of the sample: rates, and sizes of growing text
embed_trial     timed embedding of the sample
growth_law      growth laws, fitted to sizes, with a range of each prediction
corpus_laws     growth laws of a corpus: words, pairs and vocabulary
merge_tiers     prediction of the merges of a build
memory          memory of the driver and the workers
build_cost      cost of a build of a given size
limits          limits that a build reaches
build_estimate  all steps: from a request to the expected cost and its range
"""
