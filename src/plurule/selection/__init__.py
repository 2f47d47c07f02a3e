"""Training on folds, and choosing by what comes out."""
