"""Experiments with plurule: the paper's protocol, comparisons with other learners, benchmarks of the engine.

Not part of the package that is installed. Everything here uses the public interface of plurule only.
"""
