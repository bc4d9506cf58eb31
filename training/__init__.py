"""Language models of bitcipher, initialized with cipher vectors: pre-training, fine-tuning, generation, analysis."""

import os

# Threads of torch wait for each other in nearly every operation. By default, they wait in a loop, which makes training
# many times slower on a machine whose cores are busy. OpenMP reads this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
