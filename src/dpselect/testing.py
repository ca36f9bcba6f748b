"""Draws that can be repeated, for tests and simulations. They are not private, and say so."""

from dpselect.mechanisms.seeding import seeded

__all__ = ["seeded"]
