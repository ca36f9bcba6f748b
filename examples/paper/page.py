"""The page on the paper."""

from examples.figures.page import Page

INTRODUCTION = """\
# The permute-and-flip paper, recomputed

Ryan McKenna and Daniel Sheldon, *Permute-and-Flip: A new mechanism for differentially private selection*, NeurIPS 2020,
compares their mechanism with the exponential mechanism in figures 1 to 7. This folder has each of these figures,
recomputed with this library alone, and its numbers as a CSV file. `make paper` in the root of the repository writes all
of it, this page included. The run determines from the numbers what was found, and whether a claim holds. Where the
paper says "about", "near" or "most", a tolerance in the code in this folder decides.

The histograms are those of the DPBench study, with 4096 bins summed to 1024; [dpbench.py](dpbench.py) names the source.
Expected errors are computed from exact probabilities, not by drawing. The files have ten digits.

**Units.** For the *mode* the paper gives a bin of x records the score 2x. This library gives it the score x and halves
the noise, because adding or removing a record changes all counts in the same direction. This is the same law, with
errors half as large. Pictures and claims about the mode are in the paper's unit, *twice the count*: an error of 50
means a bin with 25 records fewer than the fullest bin. Errors of the *median* are in records.

**What is different here.**

- The paper computes the probabilities of permute-and-flip by a sum with alternating signs, which breaks down in doubles
  at small epsilon (see [figure 3(a)](#figure-3a)). Here they are an integral of positive terms
  ([proof](../../proofs/permute_and_flip.md), claims 1 and 4).
- The paper leaves open whether the ratio of the errors can exceed two. It cannot, whatever the scores are
  ([proof](../../proofs/permute_and_flip.md), claim 3).
"""

PAPER = Page(introduction=INTRODUCTION, claimant="what the paper says")
