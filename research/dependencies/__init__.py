"""Which label dependencies do rule learners find? Counted where they are known, on real data, and on controls.

    python -m research.dependencies [--seeds N] [--rows N] [--settings NAME …] [--quick] [--pages]
    python -m research.dependencies --real [--sets NAME …] [--controls N] [--data DIR] [--quick] [--pages]

Run it from the root of the checkout. It writes tables (Markdown), numbers (JSON) and a figure to
research/results/dependencies; a run that was stopped goes on where it was. `--pages` puts the tables and the figure
into docs/dependencies-found.md.
"""
