"""Executable reference models in exact arithmetic: short, slow and readable.

They are the pseudocode of the pages in ``proofs/`` and the oracle of the product's tests. Flip probabilities
``p_i = exp(-(best score - score_i) / scale)`` are `fractions.Fraction`, so two laws are equal or they are not.
"""
