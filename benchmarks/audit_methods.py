"""Other people's ways to audit a mechanism, written anew after their code and its settings: none is on a package index.

Each takes the same outputs for two neighbours, answers with the same confidence as `dpselect.audit`, and has the help
that a person who knows the mechanism would give it: numbers as they are, flags for what is no number, one scale.

- DP-Sniper: Bichsel, Steffen, Bogunovic and Vechev (2021); their version 0.1.0, commit ee087b2, has the settings.
- DP-Auditorium: Kong, Muñoz Medina, Ribero and Syed (2023); their version 0.0.1, commit b5b0286, has the settings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from dpselect.auditing.audit import Flat, lower_bound

Rows = np.ndarray
Method = Callable[[list[Flat], list[Flat], float, float, float, int], float]
"""From outputs for both neighbours, the claim (epsilon, delta), the error and a seed to a lower bound of epsilon."""

TAIL = 0.01
"""DP-Sniper's c: how often its event happens for the neighbour for which it is the rarer."""
ORDER, LARGEST = 2.0, 1.0
"""Rényi: alpha, and the bound of its function: ours, since theirs are for many more draws and give no bound here."""
CELLS = 20
STEP = 0.25
"""Between epsilons that a test of a claim goes through, as long as it refutes them: the bound is the last refuted."""


class Features:
    """Columns of numbers of outputs, read as in those of `seen`."""

    def __init__(self, seen: Sequence[Flat]) -> None:
        found: dict[str, Counter[str]] = {}
        for each in seen:
            for place in each:
                found.setdefault(place, Counter())
        for place, texts in found.items():
            texts.update(text for each in seen if (text := _text(each.get(place, "absent"))) is not None)
        self._flags = {place: [text for text, _ in texts.most_common(CELLS)] for place, texts in found.items()}
        raw = self._raw(seen)
        self._kept = np.ptp(raw, axis=0) > 0
        self._scale = StandardScaler().fit(raw[:, self._kept]) if self._kept.any() else None

    def of(self, outputs: Sequence[Flat]) -> Rows:
        """The columns; those that did not vary are left out."""
        return (
            np.zeros((len(outputs), 1))
            if self._scale is None
            else self._scale.transform(self._raw(outputs)[:, self._kept])
        )

    def _raw(self, outputs: Sequence[Flat]) -> Rows:
        columns: list[Rows] = []
        for place, flags in self._flags.items():
            values = [each.get(place, "absent") for each in outputs]
            texts = [_text(value) for value in values]
            columns.append(np.array([0.0 if text else value for value, text in zip(values, texts, strict=True)], float))
            columns += [np.array([text == flag for text in texts], float) for flag in flags]
        return np.column_stack(columns)


def _text(value: Any) -> str | None:
    """What stands for a value that is no finite number."""
    return None if isinstance(value, (int, float)) and math.isfinite(value) else repr(value)


def bits_of(outputs: Sequence[Flat]) -> list[Flat]:
    """The 64 bits of outputs that are one float each."""
    column = np.array([each["the output"] for each in outputs], float).view(np.uint64)
    bits = (column[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return [dict(zip(map(str, range(64)), row, strict=True)) for row in bits.tolist()]


class Network:
    """Layers with tanh, or with max(0, x), in between, trained by Adam."""

    def __init__(self, sizes: Sequence[int], seed: int, *, tanh: bool = False) -> None:
        rng, self._tanh = np.random.default_rng(seed), tanh
        self.weights = [
            part
            for before, after in pairwise(sizes)
            for part in (rng.uniform(-1, 1, (before, after)) * math.sqrt(6 / (before + after)), np.zeros(after))
        ]
        self._moments = [(np.zeros_like(each), np.zeros_like(each)) for each in self.weights]
        self._steps = 0

    def of(self, rows: Rows) -> Rows:
        """One number for each row."""
        return self._layers(rows)[-1][:, 0]

    def slopes(self, rows: Rows, of_outputs: Callable[[Rows], Rows]) -> list[Rows]:
        """Of a loss by each weight, from its slopes by the outputs."""
        layers, found = self._layers(rows), list[Rows]()
        slope = of_outputs(layers[-1][:, 0])[:, None]
        for place in range(len(layers) - 2, -1, -1):
            found = [layers[place].T @ slope, slope.sum(axis=0), *found]
            if place:
                bend = 1 - layers[place] ** 2 if self._tanh else layers[place] > 0
                slope = (slope @ self.weights[2 * place].T) * bend
        return found

    def step(self, rows: Rows, of_outputs: Callable[[Rows], Rows], rate: float, shrink: float = 0.0) -> None:
        """One step down the loss, and down `shrink` times the weights' squares."""
        self._steps += 1
        rate *= math.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        found = self.slopes(rows, of_outputs)
        for weight, (mean, square), slope in zip(self.weights, self._moments, found, strict=True):
            slope += 2 * shrink * weight
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            weight -= rate * mean / (np.sqrt(square) + 1e-8)

    def _layers(self, rows: Rows) -> list[Rows]:
        layers, parts = [rows], list(zip(self.weights[::2], self.weights[1::2], strict=True))
        for weight, shift in parts[:-1]:
            layers.append(layers[-1] @ weight + shift)
            np.tanh(layers[-1], out=layers[-1]) if self._tanh else np.maximum(layers[-1], 0, out=layers[-1])
        return [*layers, layers[-1] @ parts[-1][0] + parts[-1][1]]


def _cross_entropy(labels: Rows) -> Callable[[Rows], Rows]:
    return lambda outputs: (expit(outputs) - labels) / len(labels)


def _network(rows: Rows, labels: Rows, seed: int) -> Callable[[Rows], Rows]:
    """DP-Sniper's: 10 and 5 neurons; Adam's rate is 0.1 and falls by ten after each 500 of 1,070 steps."""
    model, size, order = Network([rows.shape[1], 10, 5, 1], seed), min(len(rows), 2000), np.random.default_rng(seed)
    for step in range(1070):
        batch = order.integers(len(rows), size=size) if size < len(rows) else slice(None)
        model.step(rows[batch], _cross_entropy(labels[batch]), 0.1 / 10 ** (step // 500), 1e-4)
    return lambda rows: expit(model.of(rows))


def _regression(rows: Rows, labels: Rows, seed: int) -> Callable[[Rows], Rows]:
    """DP-Sniper's, at the optimum of its loss, which its steps approach."""
    model = LogisticRegression(C=1 / (2 * 0.001 * len(rows)), max_iter=1000, random_state=seed).fit(rows, labels)
    return lambda rows: model.predict_proba(rows)[:, 1]


def sniper(first: list[Flat], second: list[Flat], delta: float, error: float, seed: int, *, network: bool) -> float:
    """DP-Sniper: a classifier's most extreme outputs, as many as happen with probability `TAIL`, are the event.

    A quarter of the draws trains, another one finds the threshold and the direction, and half of them test.
    """
    rng, quarter = np.random.default_rng(seed), len(first) // 4
    trained = [*first[:quarter], *second[:quarter]]
    features = Features(trained)
    train = _network if network else _regression
    chance = train(features.of(trained), np.repeat([0.0, 1.0], quarter), seed)
    chances = [
        np.round(np.column_stack([1 - second_one, second_one]), 3)
        for second_one in (chance(features.of(each[quarter:])) for each in (first, second))
    ]
    attacks: list[tuple[float, int, float, float]] = []
    for likelier in (0, 1):
        target = TAIL * quarter
        against = np.sort(chances[1 - likelier][:quarter, likelier])[::-1]
        threshold = against[math.floor(target)]
        tie = (target - (against > threshold).sum()) / (against == threshold).sum()
        scores = chances[likelier][:quarter, likelier]
        hits = (scores > threshold).sum() + tie * (scores == threshold).sum()
        attacks.append((hits, likelier, threshold, tie))
    _, likelier, threshold, tie = max(attacks)
    tested = [each[quarter:, likelier] for each in chances]
    happened = [
        int(((each > threshold) | ((each == threshold) & (rng.random(len(each)) < tie))).sum()) for each in tested
    ]
    return lower_bound(happened[likelier], happened[1 - likelier], len(tested[0]), error=error, delta=delta)


def _furthest(claim: float, refuted: Callable[[float], bool]) -> float:
    """The largest epsilon that is refuted together with all before it, so with the confidence of one test; or 0."""
    epsilon, bound = claim, 0.0
    while refuted(epsilon):
        bound, epsilon = epsilon, epsilon + STEP
    return bound


def hockey_stick(first: list[Flat], second: list[Flat], claim: float, delta: float, error: float, seed: int) -> float:
    """DP-Auditorium's classifier of outputs with weights 1 and exp(epsilon); Hoeffding's bound of its accuracy.

    Three layers of 12, Adam with rate 0.01, batches of 100, twice through one half of the draws; the other half tests.
    """
    half = len(first) // 2
    features = Features([*first[:half], *second[:half]])
    train, test = ([features.of(each[part]) for each in (first, second)] for part in (slice(half), slice(half, None)))

    def labelled(pair: Sequence[Rows], epsilon: float) -> tuple[Rows, Rows]:
        cuts = [round(len(each) / (1 + math.exp(epsilon))) for each in pair]
        rows = [pair[0][: cuts[0]], pair[1][cuts[1] :]]
        return np.concatenate(rows), np.repeat([0, 1], [*map(len, rows)])

    def refuted(epsilon: float) -> bool:
        for way in (1, -1):
            rows, labels = labelled(train[::way], epsilon)
            model, order = Network([rows.shape[1], 12, 12, 12, 1], seed), np.random.default_rng(seed)
            for batch in chain.from_iterable(
                np.array_split(order.permutation(len(rows)), len(rows) // 100) for _ in "12"
            ):
                model.step(rows[batch], _cross_entropy(labels[batch]), 0.01)
            rows, labels = labelled(test[::way], epsilon)
            accuracy = ((model.of(rows) > 0) == labels).mean()
            accuracy -= math.sqrt(math.log(2 / error) / (2 * len(test[0])))
            if accuracy * (1 + math.exp(epsilon)) - math.exp(epsilon) > delta:
                return True
        return False

    return _furthest(claim, refuted)


def histogram(first: list[Flat], second: list[Flat], claim: float, delta: float, error: float, seed: int) -> float:
    """DP-Auditorium's second histogram tester: the positive parts of differences of cells, less their likely error.

    A tenth of the draws finds the cells: the commonest outputs, or intervals of equal length if the output is one
    number with more values.
    """
    del seed
    tenth = len(first) // 10
    seen, places = [*first[:tenth], *second[:tenth]], Counter[str]()
    places.update(map(repr, seen))
    numeric = len(places) > CELLS and all(
        set(each) == {"the output"} and _text(*each.values()) is None for each in seen
    )
    if numeric:
        low, high = np.quantile([each["the output"] for each in seen], [0.005, 0.995])
        values = [np.clip([each["the output"] for each in side[tenth:]], low, high) for side in (first, second)]
        counts = [np.histogram(each, bins=CELLS, range=(low, high))[0] for each in values]
    else:
        known = {text: place for place, (text, _) in enumerate(places.most_common(CELLS - 1))}
        found = [[known.get(repr(each), CELLS - 1) for each in side[tenth:]] for side in (first, second)]
        counts = [np.bincount(each, minlength=CELLS) for each in found]
    draws = len(first) - tenth
    shares = [each / draws for each in counts]

    def refuted(epsilon: float) -> bool:
        for p, q in (shares, shares[::-1]):
            spread = 2 / math.sqrt(draws) * (np.sqrt(p).sum() + math.exp(epsilon) * np.sqrt(q).sum())
            spread += 6 * (1 + math.exp(epsilon)) * math.sqrt(math.log(8 / error) / (2 * draws))
            if np.maximum(p - math.exp(epsilon) * q, 0).sum() - spread >= delta and spread < 1:
                return True
        return False

    return _furthest(claim, refuted)


def divergence_slopes(outputs: Rows) -> Rows:
    """Of the negative Rényi divergence, by outputs of which one half is the first neighbour's."""
    bent = np.tanh(outputs)
    up, down = (
        np.exp(power * LARGEST * each) for power, each in zip((ORDER - 1, ORDER), np.split(bent, 2), strict=True)
    )
    return ORDER * LARGEST * np.concatenate([-up / up.sum(), down / down.sum()]) * (1 - bent**2)


def renyi(first: list[Flat], second: list[Flat], claim: float, delta: float, error: float, seed: int) -> float:
    """DP-Auditorium's bound of the Rényi divergence, which pure privacy keeps below min(epsilon, 2 alpha epsilon^2).

    Batches of 128, five times through one half of the draws; the other half tests.
    """
    if delta:
        return 0.0  # it tests pure privacy only
    half, bound = len(first) // 2, 0.0
    features = Features([*first[:half], *second[:half]])
    rows = [features.of(each) for each in (first, second)]
    gamma = math.sqrt(2 * math.log(4 / error) * math.exp(2 * ORDER * LARGEST) / half)
    for p, q in (rows, rows[::-1]) if gamma < 1 else ():
        model = Network([p.shape[1], 100, 100, 1], seed, tanh=True)
        for start in [*range(0, half - 127, 128)] * 5:
            model.step(np.concatenate([each[start : start + 128] for each in (p, q)]), divergence_slopes, 0.001)
        ends = [LARGEST * np.tanh(model.of(each[half:])) for each in (p, q)]
        up, down = np.exp((ORDER - 1) * ends[0]).mean(), np.exp(ORDER * ends[1]).mean()
        divergence = ORDER / (ORDER - 1) * math.log(up) - math.log(down) - math.log((1 + gamma) / (1 - gamma))
        bound = max(bound, divergence, math.sqrt(max(divergence, 0.0) / (2 * ORDER)))
    return bound


def _sniper(network: bool) -> Method:
    return lambda first, second, claim, delta, error, seed: sniper(first, second, delta, error, seed, network=network)


def _on_bits(first: list[Flat], second: list[Flat], claim: float, delta: float, error: float, seed: int) -> float:
    if any(not isinstance(each.get("the output"), float) for each in [*first[:50], *second[:50]]):
        return 0.0
    return sniper(bits_of(first), bits_of(second), delta, error, seed, network=True)


METHODS: dict[str, Method] = {
    "DP-Sniper, regression": _sniper(False),
    "DP-Sniper, network": _sniper(True),
    "DP-Sniper, bits": _on_bits,
    "hockey-stick": hockey_stick,
    "Rényi": renyi,
    "histogram": histogram,
}
