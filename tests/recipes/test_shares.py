"""What a recipe spends on its parts is together no more than the epsilon that it was given, to the last digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.recipes import MWEM, AdaptiveMarginals, DecisionTree

SHARES = (0.05, 0.1, 0.2, 0.3, 0.7)
EPSILONS = (0.1, 0.3, 0.7, 1.0, 1.3)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("share", SHARES)
def test_no_recipe_costs_more_than_its_epsilon(epsilon: float, share: float) -> None:
    recipes: list[Any] = [
        DecisionTree(bins=[2, 3], classes=2, epsilon=epsilon, leaf_share=share, depth=depth) for depth in (2, 3)
    ]
    for rounds in (3, 6, 10, 11):
        recipes.append(MWEM(epsilon=epsilon, rounds=rounds, selection_share=share))
        marginals = {"sizes": (2, 3, 2), "marginals": ((0, 1), (1, 2), (0, 2))}
        recipes.append(AdaptiveMarginals(epsilon=epsilon, rounds=rounds, selection_share=share, **marginals))
    for recipe in recipes:
        assert epsilon * (1 - 1e-12) < recipe.event.epsilon <= epsilon


def test_an_account_of_its_epsilon_takes_a_recipe(tmp_path: Path) -> None:
    with dps.Ledger(tmp_path / "budget.db") as ledger:
        for name, recipe in (("mwem", MWEM(epsilon=0.1, rounds=3)), ("other", MWEM(epsilon=1.0, rounds=7))):
            ledger.open_account(name, epsilon=recipe.epsilon)
            assert ledger.charge(name, recipe.event).sequence == 1
