"""The page on where selection is used."""

from examples.figures.page import Page

INTRODUCTION = """\
# Where selection is used

A decision tree asks one question after another: is the person older than 40, married, at school for twelve years? To
grow one is to *select*, in each node, the question that separates the classes best. With differential privacy the
selection has noise, so sometimes a question that is not quite the best is chosen. This page measures how much that
costs, in trees and in three other algorithms that select again and again:

- **MWEM** answers many counting queries with one synthetic histogram. In each round it selects the query that the
  histogram answers worst, asks it, and corrects the histogram.
- **Adaptive marginals** (the loop of AIM) do the same with tables of several attributes, and whole marginals in place
  of queries.
- **PrivBayes** selects, for one attribute after another, the *parents* that tell most about it.

All of them are in `dpselect.recipes`, with proofs of their sensitivities ([splits](../../proofs/split_scores.md),
[marginals and parents](../../proofs/marginal_scores.md)). The permute-and-flip paper asks, as its second open
question, what its mechanism gains inside such algorithms. `make paper` writes this page, its pictures and its
numbers; the run reads off the numbers what was found.

**What theory says.** Permute-and-flip never has a larger expected error than the exponential mechanism at the same
epsilon. And it is never better than the exponential mechanism with *twice* the epsilon: for every score vector and
every threshold e, the exponential mechanism with half the noise errs by e or more with a probability that is not
larger ([claims 3 and 5](../../proofs/permute_and_flip.md)). So the gain lies between nothing and a factor of two in
epsilon. Without delta, rounds add up for both, and permute-and-flip is the one to use. With a delta, the exponential
mechanism composes better and may spend more in each round: up to twice as much for many rounds.

**Half the noise for trees.** The literature scales the noise of splits by twice the sensitivity. If a row is added,
all split scores of a node move in the same direction, so half of that is enough. That is the largest gain on this
page.

**What to use when.** Trees: Gini, permute-and-flip, the monotone scale ([figures 1](#figure-1) and [2](#figure-2)).
MWEM and marginals: permute-and-flip without delta; with delta, from about six rounds on, the exponential mechanism,
which helps MWEM at small epsilons and marginals hardly ([figures 3](#figure-3) and [4](#figure-4)). Parents: the
score R ([figure 5](#figure-5)). `selection="auto"`, the default, decides by these rules from public arguments.

**How the numbers are made.** Every draw is that of the library, repeated by `dpselect.testing.seeded`. Intervals are
95 % intervals of means. The trees of both scales are compared pairwise, on the same rows.

**Limits.** One table of people and five histograms. Trees have one depth and one share for the leaves; at a large
epsilon every way finds the same tree. The synthetic tables have few attributes, so that the whole domain fits into
memory.
"""

RECIPES = Page(introduction=INTRODUCTION, claimant="what is said")
