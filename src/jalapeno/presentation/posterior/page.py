"""The posterior as a page of the documentation: tables, pictures, and what they do not prove."""

from __future__ import annotations

from collections.abc import Sequence

from jalapeno.analysis.posterior.infer import Posterior
from jalapeno.presentation.digits import number, percent
from jalapeno.presentation.names import spelt
from jalapeno.presentation.tables import Table, to_markdown

HEADING = "What the published numbers say of Jalapeño"

METHOD = """\
There are no logs of Jalapeño, so its constants are an inverse problem. Unknowns have priors from
the facts of the catalogue (`catalogue/data/posterior/priors.toml` where a fact's own range was
read off the numbers that are the evidence here). The evidence is what OpenAI published on 25
August 2026, and that no run drew more than 550 W. The twin may be off by a factor: the logarithm
of published over twin is Student-t with five degrees of freedom and an unknown scale, one for a
request alone and one under load. Which plan was measured is not known: each of a short list
counts by how little worse than the best it is. The closed form answers, times what simulation
makes of it at the catalogue's constants.

An ensemble of walkers ([emcee](https://arxiv.org/abs/1202.3665)) samples the mixture of the
posteriors that leave one number out ([Silva and Zanella](https://arxiv.org/abs/2209.09190));
weighting gives the posterior of all numbers, and a prediction of each from all others, without
another chain.

`jalapeno posterior --docs FILE` writes this page; nothing on it is typed by hand."""

LIMITS = """\
## What this does not prove

* {count} numbers cannot fix {unknowns} unknowns. Most marginals are their priors; the table of
  pairs says which products are known where the factors are not.
* Whether {covered} of {count} intervals hold their number says little of whether nine in ten
  would: with {count} numbers the share inside of perfect 90 % intervals lies between {least} and
  {count} of {count} nineteen times in twenty. The numbers are not independent either: three
  models on one chip, four numbers each.
* Priors are ranges that somebody wrote down. Where the evidence is silent, the answer is the
  range.
* One error of the twin, alike for all numbers of a sort, stands for everything that its physics
  leaves out. It cannot say that one number is wrong for a reason of its own, and it widens all
  intervals of a sort when one number does not fit.
* TTFT, tails and power have no published value at all. Their intervals rest on the twin's
  physics, and for TTFT on how far it is off on other systems.
* Plans are a short list a number, chosen near the catalogue's constants. Plans that are good only
  far from there are missing."""


def docs_page(found: Posterior, tables: Sequence[Table]) -> str:
    """The page."""
    left, before = found.left_out_score, found.prior_score
    said = (
        f"Each of the {spelt(left.count)} numbers predicted from all others: {left.covered} of "
        f"{left.count} lie in their 90 % interval, whose high end is {number(left.ratio)} times "
        f"the low one (median; by the prior alone {number(before.ratio)}). Interval score "
        f"{number(left.interval_score)} against the prior's {number(before.interval_score)}; less "
        f"is better. Seed {found.seed}."
    )
    limits = LIMITS.format(
        count=left.count,
        unknowns=found.kept.values.shape[1],
        covered=left.covered,
        least=least_covered(left.count),
    )
    parts = [
        f"# {HEADING}",
        said,
        METHOD,
        *(f"![{words}](posterior-{name}.png)" for name, words in PICTURES.items()),
        *(to_markdown(table, level=2).rstrip() for table in tables),
        limits,
        f"Acceptance of the chain: {percent(found.chain.acceptance)} %.",
    ]
    return "\n\n".join(parts) + "\n"


PICTURES = {
    "intervals": "Each published number, predicted by the prior and by all the others",
    "marginals": "What the published numbers say of each unknown",
    "correlations": "Unknowns that the evidence cannot tell apart",
    "unpublished": "What was never published",
    "shares": "Which unknown matters most for which answer",
}


def least_covered(count: int, share: float = 0.9) -> int:
    """Of *count* perfect intervals, how many hold their number at the least, nineteen times in
    twenty."""
    from scipy.stats import binom

    return int(binom.ppf(0.05, count, share))
