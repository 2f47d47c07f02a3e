"""Quality of rule lists beside other learners, on the same training and test parts.

    python -m research.compare DATA … [--learners NAME …] [--folds N]
    python -m research.compare [--sets NAME …] [--only LEARNER …] [--study | --lifts | --small]

Run it from the root of the checkout. With data sets (names, or paths of folders and files), learners are compared with
all measures, average ranks and tests; a run that was stopped goes on where it was. `make compare` makes the
environment. Learners are named, or any classifier of scikit-learn is by its import path, such as
sklearn.neighbors.KNeighborsClassifier.

Without data sets, the tables of the quality page are made; `make quality` makes both environments. `--study` compares
settings of the learner by cross-validation on training parts: the defaults come from there. `--lifts` measures what
the lift does to heads, lengths and scores. `--small` compares lists learned from few rows with the best constant
prediction.
"""
