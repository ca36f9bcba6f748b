"""Errors put into the code on purpose, one at a time, to see that the tests notice: ``make mutants``."""
