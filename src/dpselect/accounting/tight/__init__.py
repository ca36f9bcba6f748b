"""The exact adaptive composition, enclosed from above on a grid of privacy losses.

Proof: ``proofs/composition.md``, claims 5 to 7.
"""

from dpselect.accounting.tight.compose import NotTight, equal_rounds_curve, tight_curve
from dpselect.accounting.tight.curve import Curve

__all__ = ["Curve", "NotTight", "equal_rounds_curve", "tight_curve"]
