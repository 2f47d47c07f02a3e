"""How fast the native engine is: beside mlrl-seco, with threads, as data grow, in memory, to predict and to start.

    python -m research.speed [--quick] [--only MEASURE …] [--repeats N] [--peer-python PATH] [--peer-limit SECONDS]

Run it from the root of the checkout; `make bench` makes both environments.
"""
