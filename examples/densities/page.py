"""The page on releasing a distribution."""

from examples.figures.page import Page

INTRODUCTION = """\
# Releasing a whole distribution

Wasserman and Zhou, *A Statistical Framework for Differential Privacy*, JASA 2010, release a sample of a distribution by
the exponential mechanism, with minus the Kolmogorov-Smirnov distance as its score. They bound its error by the order
n^(-1/3), and compare it with noise on a histogram and with sampling from a smoothed histogram. Class notes on the paper
call that mechanism the best of the three. This page tests it on real data: HEPTH, 64 bins of the DPBench study, and the
ages in UCI Adult, with one bin for each year. `make paper` writes the page, the pictures and the numbers. The run
determines from the numbers what was found.

**What to use when.** n records, m public bins, epsilon:

- For shares, cumulative shares or quantiles over fixed bins, if epsilon n is above about 2 m: the histogram with
  two-sided geometric noise (`GeometricMechanism` with sensitivity 2 under replace-one, 1 under add-remove), made
  monotone ([figures 1](#figure-1) and [2](#figure-2)). Its error falls as 1/n.
- If there are more bins than that for the data, or no bins at all: the Kolmogorov-Smirnov mechanism
  (`DensityMechanism`). Its error hardly depends on how many bins there are ([figure 3](#figure-3)). It releases a
  sample, which is used like data.
- For the size of that sample: the largest of 8, 2 √(epsilon n) and epsilon n/m. This uses only public numbers, and is
  near the best size on both data sets, for both base measures ([figure 4](#figure-4)).
- The smoothed histogram: never, if the distribution function is what matters.

**How the numbers are made.** Errors are expected Kolmogorov-Smirnov distances from the *data's* distribution. For the
Kolmogorov-Smirnov mechanism and the smoothed histogram nothing is simulated: a recursion over the bins counts all
samples within each distance ([bands.py](bands.py)), which gives the law of the distance
([distance_law.py](distance_law.py)). n and k are powers of two, so the distances are few whole multiples of k. Where
there are still too many to distinguish them, bounds on both sides are known; for the smoothed histogram the numbers
include them. Noise on the histogram is simulated, 2000 times with a fixed seed, which leaves an error of about one
percent. *Cut off* sets negative counts to zero and divides by the sum. *Made monotone* distributes the error of the sum
evenly over the bins and takes the increasing function nearest to the cumulative counts. The data are scaled to n
records by largest remainders, without randomness.

**Limits.** There are two data sets of one dimension. Both have most of their records in a large part of the bins. Data
in a hundredth of the public bounds need smaller samples with the base measure of uniform points, whose own influence
grows with k; the default of `DensityMechanism` is made for such data too. The "best" k uses the data and is not
private. n is public throughout. What the source says about more dimensions is not tested.

**What a release reveals.** Take a test at level 5 % of which of two values one person's record has, when all other
records are known. Its power is at most 13.6 % after a release at epsilon = 1, and 5.5 % at epsilon = 0.1:
`release.guarantee.power` ([proof](../../proofs/testing.md)), which adds a second bound to that of Wasserman and Zhou.
"""

DENSITIES = Page(introduction=INTRODUCTION, claimant="what is said")
