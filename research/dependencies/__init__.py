"""Which label dependencies do rule learners find? Counted on data whose dependencies are known.

    python -m research.dependencies [--seeds N] [--rows N] [--settings NAME …] [--quick] [--pages]

Run it from the root of the checkout. It writes tables (Markdown), numbers (JSON) and a figure to
research/results/dependencies; a run that was stopped goes on where it was. `--pages` puts the tables and the figure
into docs/dependencies-found.md.
"""
