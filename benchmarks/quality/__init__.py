"""How well rule lists predict, and how short they are, beside other learners on the same splits.

    python -m benchmarks.quality [--sets NAME …] [--only LEARNER …] [--peer-python PATH] [--study|--aiming|…]

run from the root of the checkout; `make quality` makes both environments and runs it. `--study` compares settings of
the learner by cross-validation on training parts alone: that is where the defaults come from. `--aiming` compares
how lists are aimed, `--bagging` settings of `BaggedRuleLists`, in the same manner.
"""
