"""
Large data
==========

Three hundred thousand rows from a Parquet file, with the learner as published, in which nothing is chosen by
cross-validation. Numeric attributes are cut into 32 bins first, which makes training fast; it runs on as many threads
as it is given, and the rules do not depend on how many.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import plurule
from plurule import RuleListClassifier

random = np.random.default_rng(0)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "measurements.parquet"
n = 300_000
X = random.normal(size=(n, 12)).astype(np.float32)
labels = {
    "alarm": (X[:, 0] > 1.2) & (X[:, 1] < 0.3),
    "leak": X[:, 2] + 0.2 * random.normal(size=n) > 1,
    "vibration": (X[:, 3] < -0.5) | (X[:, 0] > 2),
    "maintenance": (X[:, 2] > 1) & (X[:, 3] < -0.5),
}
columns = {f"sensor_{i}": X[:, i] for i in range(12)} | {name: value.astype(np.int8) for name, value in labels.items()}
pq.write_table(pa.table(columns), path, row_group_size=60_000)
print(f"{path.stat().st_size / 1e6:.0f} MB")

# %%
data = plurule.read(path, labels=list(labels))
classifier = RuleListClassifier.published(n_rules=10, max_bins=32, n_jobs=2).fit(data)
print(classifier.rule_list_)

# %%
# The same list from data that are never in memory as a whole: `plurule.scan` reads the file group by group.

scanned = plurule.scan(path, labels=list(labels))
same = RuleListClassifier.published(n_rules=10, max_bins=32, n_jobs=2).fit(scanned).rule_list_
print(scanned, same == classifier.rule_list_)

# %%
# How the time grows with the rows:

sizes = (10_000, 100_000, 200_000, 300_000)
seconds = []
for size in sizes:
    part = data[np.arange(size)]
    start = time.process_time()
    RuleListClassifier.published(n_rules=10, max_bins=32).fit(part)
    seconds.append(time.process_time() - start)
fig, ax = plt.subplots()
ax.plot(sizes, seconds, "o-")
ax.set(xlabel="rows", ylabel="CPU seconds for ten rules", ylim=(0, None))
folder.cleanup()
