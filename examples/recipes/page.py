"""The page on where selection is used, for a reader who knows decision trees and nothing of privacy."""

from examples.figures.page import Page
from examples.paper.dpbench import BINS, NAMES, load
from examples.recipes.data import TRAINING, income
from examples.recipes.paired import RULE
from examples.recipes.synthetic import FEWER_SEEDS, SEEDS

_RECORDS = ", ".join(f"{name} ({int(load(name).sum()):,} records)" for name in NAMES)

INTRODUCTION = f"""\
# Where selection is used

A decision tree asks one question after another: is the person older than 40, married, at school for twelve years? To
grow one is to *select*, in each node, the question that separates the classes best. If the rows are about people, the
finished tree can tell something about a single one of them. Differential privacy prevents that: the selection has
noise, so that sometimes a question that is not quite the best is chosen. This page measures how much accuracy that
costs, in trees and in three other algorithms that select again and again, and which way of selecting costs least.

## The words

**Person, epsilon, delta.** Here a row is a person; in general one speaks of a *unit*, who is protected with all of
their rows. A result is *differentially private* if it would be almost as likely without any one person: by a factor
of at most e^epsilon. A small **epsilon** (0.1, say) is strong protection and much noise, a large one (10) is weak
protection and little noise. **Delta** is a tiny probability, here 0 or one in a million, with which that factor may
be exceeded.

**Budget.** Whoever selects ten times pays ten times: the epsilons add up. A tree of ten levels that may spend epsilon
= 1 on its questions has 0.1 for each level. (Nodes of one level share no person, so they cost no more than one of
them.) With a delta they add up to less, for the exponential mechanism much less.

**Score and sensitivity.** Each candidate (a question, in a tree) has a *score*, and higher is better. The
*sensitivity* is the most by which one person can change a score. It decides how much noise is needed: the noise has
to hide one person, and nothing more. The *scale* of the noise is proportional to sensitivity / epsilon.

**The two mechanisms.** The *exponential mechanism* selects a candidate at random with a probability proportional to
e^(score / scale): the best is the most likely, and one that is behind by many scales hardly ever comes.
*Permute-and-flip* goes through the candidates in random order and flips a coin for each, whose head has probability
e^(-(how far it is behind the best) / scale); the first head is selected. At the same epsilon both protect equally
well. The permute-and-flip paper (McKenna and Sheldon 2020) asks, as its second open question, what its mechanism
gains inside larger algorithms.

**Monotone scale.** Both mechanisms use the scale 2 x sensitivity / epsilon, as one person could raise one score and
lower another. If a person can only move all scores in one direction, half of that is enough. Scores of splits are of
that kind: one more row moves the scores of all questions of a node in the same direction, or not at all. That is
*half the published noise*: the literature (Friedman and Schuster 2010) uses the full scale for trees
([proof](../../proofs/split_scores.md)).

## The four algorithms

- **Decision trees.** Each node selects a question, by one of three scores: *Gini*, *entropy*, or the number of rows
  with the *most frequent class* on each side. The leaves hold noisy counts of each class.
- **MWEM** (Hardt, Ligett and McSherry 2012; *multiplicative weights, exponential mechanism*) makes a synthetic
  histogram that answers many counting queries, such as "how many people are between 30 and 50?". It begins with equal
  bins. In each round it selects the query that the histogram answers worst, asks it with noise, and corrects the
  histogram.
- **Adaptive marginals**, the loop of AIM (McKenna and others 2022), make a synthetic table with several columns. A
  *marginal* is the table of counts of a few columns, such as how many people have each pair of education and sex. In
  each round the marginal that is furthest off is selected and measured with noise, and the table is fitted to all
  measured so far.
- **PrivBayes** (Zhang and others 2017) describes a table by a network: for one column after another it selects the
  *parents*, the columns that tell most about it. Two scores are compared. The *mutual information* says in bits how
  much the parents tell about the column: 0 if they are independent. One person can change it by much, compared with
  how far its values for different parents are apart. The *R score* is the distance of the counts from those of
  independent columns. It says nearly the same, and one person changes it by less
  ([proof](../../proofs/marginal_scores.md)).

All of them are in `dpselect.recipes`.

**Data.** Trees, tables and networks: UCI Adult, {len(income()[0]):,} people of the US census of 1994, and whether
they earn more than 50,000 dollars a year. Histograms: five of the DPBench study (Hay and others, SIGMOD 2016), each
of {BINS} bins: {_RECORDS}. They count citations of physics papers, a census attribute, medical costs, web searches
and citations of patents.

## What theory says

Permute-and-flip never has a larger expected error than the exponential mechanism at the same epsilon. And it is never
better than the exponential mechanism with *twice* the epsilon: for every list of scores and every threshold, the
exponential mechanism with half the noise misses the best by that much with a probability that is not larger ([claims
3 and 5](../../proofs/permute_and_flip.md)). So the gain lies between nothing and a factor of two in epsilon. This is
about one selection. Whether a better selection makes a better tree or histogram is what this page measures.

With a delta the exponential mechanism may spend more in each round than permute-and-flip: up to twice as much for
many rounds.

## How the numbers are made

**Accuracy** is the share of people whose class a tree predicts correctly. Each tree grows from the same
{TRAINING:,} people; its accuracy is measured on the {len(income()[0]) - TRAINING:,} others, whom it has not seen.

**Runs and seeds.** Noise is random, so one run says little. Each way is run {FEWER_SEEDS} or {SEEDS} times (the
pictures say how often), each time with another *seed*. That is the number a generator of random numbers starts from:
with the same seed everybody gets the same run again. Each draw is that of the library, with seeds from
`dpselect.testing.seeded`.

**Verdicts.** {RULE} The program that writes this page applies this rule to all numbers.

**On average** means over all settings of a figure, such as all values of epsilon. A sentence about the average holds
if the average does, even where a single setting differs; what was found in single settings is written beside it. Of
many intervals, one in twenty would miss zero by chance alone: a single verdict is weak evidence, and the averages
count.

In the pictures a vertical line through a point is its interval, and the right column shows differences run by run.
`make paper` writes this page, its pictures and its numbers.

## What to use when

- **Trees: Gini, with the monotone scale.** It gains most where the noise is about as large as the lead of the best
  question: for Gini at small epsilons and in deep trees, for the entropy, whose noise is largest, at larger ones
  ([figures 1](#figure-1) and [2](#figure-2)).
- **Without delta: permute-and-flip.** The reason is the theorem about one selection, where it is never worse. In what
  is made of many selections no difference was found on average in trees, MWEM and synthetic tables ([figures
  3](#figure-3) to [5](#figure-5)); parents found by it tell about half a percent more ([figure 6](#figure-6)). That is
  our answer to the open question: what is gained there is too little to matter.
- **With a delta** (a slightly weaker guarantee)**: the exponential mechanism, from about six selections on.** MWEM has
  smaller errors with it and networks have better parents; for synthetic tables no difference was found.
- **Parents: the score R** ([figure 6](#figure-6)).

`selection="auto"`, the default, decides between the mechanisms in this way, from public arguments.

**Limits.** One table of people and five histograms. The synthetic tables have few columns, so that every combination
of values fits into memory. Trees are complete: no branch stops early.
"""

RECIPES = Page(introduction=INTRODUCTION, claimant="what is said")
