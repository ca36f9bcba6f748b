"""The page on releasing a distribution."""

from examples.figures.page import Page

INTRODUCTION = """\
# Releasing a whole distribution

Wasserman and Zhou, *A Statistical Framework for Differential Privacy*, JASA 2010, release a sample of a distribution by
the exponential mechanism with minus the Kolmogorov-Smirnov distance as its score, bound its error by the order
n^(-1/3), and compare it with noise on a histogram and with sampling from a smoothed one. Class notes on the paper call
that mechanism the best of the three. This page tests it on real data: HEPTH, 64 bins of the DPBench study, and the ages
in UCI Adult, a bin for each year. `make paper` writes the page, pictures and numbers; what was found is read off the
numbers by the run.

**What to use when.** n records, m public bins, epsilon:

- For shares, cumulative shares or quantiles over fixed bins, when epsilon n is above 2 m, about: the histogram with
  two-sided geometric noise (`GeometricMechanism` with sensitivity 2 under replace-one, 1 under add/remove), made
  monotone: [figures 1](#figure-1) and [2](#figure-2). Its error goes down as 1/n.
- When there are more bins than that for the data, or there are no bins at all: the Kolmogorov-Smirnov mechanism
  (`DensityMechanism`), which hardly cares how finely the line is cut: [figure 3](#figure-3). What it releases is a
  sample, to be used like data.
- For the size of that sample: the largest of 8, 2 √(epsilon n) and epsilon n/m. It knows public numbers only, and comes
  near the best size on both data sets, for both base measures: [figure 4](#figure-4).
- The smoothed histogram: never, if it is the distribution function that counts.

**How the numbers are made.** Errors are expected Kolmogorov-Smirnov distances from the *data's* distribution. For the
Kolmogorov-Smirnov mechanism and the smoothed histogram nothing is simulated: a recursion over the bins counts all
samples within each distance ([bands.py](bands.py)), which gives the law of the distance
([distance_law.py](distance_law.py)). n and k are powers of two, so that distances are few whole multiples of k; where
they are still too many to be told apart, bounds on both sides are known, and written down for the smoothed histogram.
Noise on the histogram is simulated, 2000 times with a fixed seed, which leaves an error of about one percent: *cut off*
sets negative counts to zero and divides by the sum; *made monotone* spreads what the sum is off by evenly over the bins
and takes the increasing function nearest to the cumulative counts. The data are brought to n records by largest
remainders, without chance.

**Limits.** Two data sets of one dimension, both with most of their records in a good part of the bins. Data in a
hundredth of the public bounds want smaller samples with the base measure of uniform points, whose own pull grows with
k; the default of `DensityMechanism` is made with such data in mind. The "best" k looks at the data and is not private.
n is public throughout. What the source says of more dimensions is not tested.

**What a release gives away.** A test at level 5 % of whether one person's record is this or that, with all others
known, has power at most 13.6 % after a release at epsilon = 1, and 5.5 % at epsilon = 0.1: `planning.power_bound`
([proof](../../proofs/testing.md)), which sharpens the bound of Wasserman and Zhou from its other side.
"""

DENSITIES = Page(introduction=INTRODUCTION, claimant="what is said")
