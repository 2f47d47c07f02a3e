"""The experiments of the paper on relaxed pruning: protocol, tables, figures, published numbers.

A `Plan` of `protocol` lists tasks, `experiment` runs them, `analysis` makes data frames of the results, `checks` judges
the statements that were `published`, `figures` draws, and `report` writes the page. `python -m research.paper` runs it.
"""
