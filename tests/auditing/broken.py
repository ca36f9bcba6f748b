"""Twenty-four mechanisms that are each broken in one way, as people wrote them; all claim epsilon = 1.

Noise is on whole numbers, so that its last bits, which break float noise by themselves, are not what is found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.attacks import naive
from tests.auditing.cases import Case, seeded

Rng = np.random.Generator


def noise(rng: Rng, scale: float) -> int:
    """Two-sided geometric noise: the difference of two numbers of heads in a row."""
    return int(rng.geometric(-math.expm1(-1 / scale))) - int(rng.geometric(-math.expm1(-1 / scale)))


def half_the_scale(count: int, rng: Rng) -> object:
    return count + noise(rng, 0.5)


def half_the_scale_of_a_selection(scores: Sequence[float], rng: Rng) -> object:
    """The exponential mechanism without the factor 2 that scores of both directions need."""
    weights = np.exp(np.array(scores))
    return int(rng.choice(len(scores), p=weights / weights.sum()))


def noise_used_twice(counts: Sequence[int], rng: Rng) -> object:
    drawn = noise(rng, 2.0)
    return [count + drawn for count in counts]


def float_noise(count: int, rng: Rng) -> object:
    return naive.noisy_number(count, 1.0, rng)


def coarse_float_noise(count: int, rng: Rng) -> object:
    """From a uniform number of 16 bits, as on small devices, and 32-bit floats."""
    uniform, sign = (rng.integers(2**16) + 0.5) / 2**16, rng.choice([-1, 1])
    return float(np.float32(count) + np.float32(sign * math.log(uniform)))


def domain_from_the_data(values: Sequence[str], rng: Rng) -> object:
    return naive.most_common(values, 1.0, rng)


def clipped_after_the_noise(amounts: Sequence[int], rng: Rng) -> object:
    return min(max(sum(amounts) + noise(rng, 1.0), 0), 10)


def noise_for_ties_only(scores: Sequence[int], rng: Rng) -> object:
    return int(rng.choice(np.flatnonzero(np.array(scores) == max(scores))))


def zero_as_it_is(count: int, rng: Rng) -> object:
    return count + noise(rng, 1.0) if count else 0


def epsilon_for_each_of_three(scores: Sequence[float], rng: Rng) -> object:
    """The three best, one after another, each with all of epsilon."""
    left, chosen = list(range(len(scores))), list[int]()
    for _ in range(3):
        weights = np.exp(np.array([scores[each] for each in left]) / 2)
        chosen.append(left.pop(int(rng.choice(len(left), p=weights / weights.sum()))))
    return chosen


def histogram_for_one_cell(counts: Sequence[int], rng: Rng) -> object:
    """Replacing a unit changes two cells; the noise is for one."""
    return [count + noise(rng, 1.0) for count in counts]


def empty_cells_left_out(counts: dict[str, int], rng: Rng) -> object:
    return {name: count + noise(rng, 1.0) for name, count in counts.items() if count}


def published_from_five_on(count: int, rng: Rng) -> object:
    """The true count decides."""
    return count + noise(rng, 1.0) if count >= 5 else None


def noisy_sum_over_true_count(values: Sequence[int], rng: Rng) -> object:
    return round((sum(values) + noise(rng, 1.0)) / len(values), 6)


def seed_from_the_data(values: Sequence[int], rng: Rng) -> object:
    return sum(values) + noise(np.random.default_rng(sum(values)), 1.0)


def again_until_positive(count: int, rng: Rng) -> object:
    while True:
        noisy = count + noise(rng, 1.0)
        if noisy >= 0:
            return noisy


def gaussian_without_delta(count: int, rng: Rng) -> object:
    return round(count + rng.normal(0.0, 1.0), 1)


def answer_with_its_error(count: int, rng: Rng) -> object:
    """Shows the standard deviation of what was answered, which is 0 for an empty table."""
    return count + noise(rng, 1.0), 0.0 if count == 0 else 1.4


def fails_on_bad_cells(cells: Sequence[str], rng: Rng) -> object:
    return sum(min(max(int(cell), 0), 1) for cell in cells) + noise(rng, 1.0)


def truth_half_of_the_time(bit: int, rng: Rng) -> object:
    """Else a fair coin: epsilon is ln 3 = 1.0986."""
    return bit if rng.random() < 0.5 else int(rng.integers(2))


def sparse_without_scale_for_positives(queries: Sequence[int], rng: Rng) -> object:
    """Algorithm 4 of Lyu, Su and Li: the noise of queries does not grow with the number of positives."""
    threshold, answers = noise(rng, 4.0), list[bool]()
    for query in queries:
        answers.append(query + noise(rng, 4.0 / 3) >= threshold)
        if sum(answers) == 4:
            break
    return answers


def sparse_without_noise_of_queries(queries: Sequence[int], rng: Rng) -> object:
    """Their algorithm 5."""
    threshold = noise(rng, 2.0)
    return [query >= threshold for query in queries]


def sparse_without_end(queries: Sequence[int], rng: Rng) -> object:
    """Their algorithm 6: any number of positives, at the price of one."""
    threshold = noise(rng, 2.0)
    return [query + noise(rng, 2.0) >= threshold for query in queries]


def sparse_with_numbers(queries: Sequence[int], rng: Rng) -> object:
    """Their algorithm 3: the noise that decided is in the number that is shown."""
    threshold, answers = noise(rng, 2.0), list[Any]()
    for query in queries:
        noisy = query + noise(rng, 2.0)
        answers.append(noisy if noisy >= threshold else None)
        if noisy >= threshold:
            break
    return answers


def _case(sampler: Any, first: Any, second: Any) -> Case:
    return Case(sampler.__name__.replace("_", " "), seeded(sampler), (first, second))


BROKEN = [
    _case(half_the_scale, 0, 1),
    _case(half_the_scale_of_a_selection, [1, 0, 0], [0, 1, 1]),
    _case(noise_used_twice, [0, 0], [1, 0]),
    _case(float_noise, 0, 1),
    _case(coarse_float_noise, 0, 1),
    _case(domain_from_the_data, ["a"] * 3, ["a", "a", "a", "b"]),
    _case(clipped_after_the_noise, [1, 0], [1, 8]),
    _case(noise_for_ties_only, [3, 3], [3, 4]),
    _case(zero_as_it_is, 0, 1),
    _case(epsilon_for_each_of_three, [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]),
    _case(histogram_for_one_cell, [5, 5], [6, 4]),
    _case(empty_cells_left_out, {"a": 3, "b": 0}, {"a": 3, "b": 1}),
    _case(published_from_five_on, 4, 5),
    _case(noisy_sum_over_true_count, [1] * 6, [1] * 7),
    _case(seed_from_the_data, [1, 1], [1, 1, 1]),
    _case(again_until_positive, 0, 1),
    _case(gaussian_without_delta, 0, 1),
    _case(answer_with_its_error, 0, 1),
    _case(fails_on_bad_cells, ["1", "0"], ["1", "0", "1.5"]),
    _case(truth_half_of_the_time, 0, 1),
    _case(sparse_without_scale_for_positives, [1] * 4 + [0] * 4, [0] * 4 + [1] * 4),
    _case(sparse_without_noise_of_queries, [0, 1], [1, 0]),
    _case(sparse_without_end, [1] * 5 + [0] * 5, [0] * 5 + [1] * 5),
    _case(sparse_with_numbers, [-1] * 4 + [0], [0] * 4 + [-1]),
]
