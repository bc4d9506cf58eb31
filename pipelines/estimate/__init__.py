"""What a build of a corpus takes, told before it is made: CPU, memory, storage and time.

sample      some text of the corpus, dealt into parts that double in size
calibrate   runs the real stages on the parts: what each takes here, and how words and pairs grow
growth      the laws of growth, fitted on that, with a range for what lies beyond it
tiers       which merges a number of shards leads to
estimate    all of it put together, for a corpus and a cluster
memory      what driver and workers hold, and where the design comes to its limits
"""
