"""How fast the native engine is, beside mlrl-seco, and how its time and memory grow.

    python -m benchmarks.engine [--quick] [--only NAME ...] [--peer-python PATH]

run from the root of the checkout; `make bench` makes both environments and runs it.
"""
