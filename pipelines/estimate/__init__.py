"""Cost of a build before it is made: CPU, memory, storage and time.

sample         text of the corpus, partitioned into parts that double in size
stage_trials   the stages, run on the parts and measured
calibrate      calibration from these measurements: rates, and sizes of growing text
growth_law     laws of growth, fitted to sizes, with a range beyond the data
corpus_laws    the laws of a corpus: words, pairs and vocabulary
merge_tiers    merges that a number of shards leads to
memory         memory of the driver and the workers
estimate       the plan for a corpus and a cluster
limits         limits of the design and the cluster that a plan reaches
planner        from a request to the plans: expected, and both ends of the range
"""
