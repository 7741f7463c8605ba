"""Small articles with tables, as JATS: what they say stands in the table, or follows from it."""

from pathlib import Path

import numpy as np

from numerate.documents.document import Table

ARTICLE = """<article><front><article-meta><title-group>
<article-title>Trial {number}</article-title></title-group></article-meta></front><body><sec>
<p>Mean age was {ages[0]} years with placebo and {ages[1]} years with treatment
(<xref ref-type="table" rid="t1">Table 1</xref>).</p>
<p>Of {counts[0]} patients with placebo, {women[0]} ({share} %) were women
(<xref ref-type="table" rid="t1">Table 1</xref>).</p>
<table-wrap id="t1"><label>Table 1</label><caption><p>Patients at baseline.</p></caption>
<table><thead><tr><th></th><th>Placebo</th><th>Treatment</th></tr></thead><tbody>
<tr><td>Patients</td><td>{counts[0]}</td><td>{counts[1]}</td></tr>
<tr><td>Age (years)</td><td>{ages[0]}</td><td>{ages[1]}</td></tr>
<tr><td>Women</td><td>{women[0]}</td><td>{women[1]}</td></tr>
</tbody></table></table-wrap></sec></body></article>"""


def write_trials(folder: Path, count: int) -> Path:
    """So many articles, always the same."""
    folder.mkdir(parents=True)
    generator = np.random.default_rng(18)
    for number in range(count):
        counts = generator.integers(20, 400, 2)
        women = (counts * generator.uniform(0.2, 0.8, 2)).astype(int)
        ages = (generator.integers(300, 700, 2) / 10).tolist()
        share = f"{100 * women[0] / counts[0]:.1f}"
        article = ARTICLE.format(number=number, counts=counts, women=women, ages=ages, share=share)
        (folder / f"trial-{number:03}.xml").write_text(article, encoding="utf-8")
    return folder


TABLE = Table(
    "t1",
    "Table 2",
    "Patients at baseline.",
    [["", "Placebo", "Treatment"]],
    [["Patients", "48", "51"], ["Age (years)", "57.3", "61.5"], ["Women", "12", "30"]],
)
TEXT = "Of 48 patients with placebo, 12 (25.0 %) were women (_ref_)."
