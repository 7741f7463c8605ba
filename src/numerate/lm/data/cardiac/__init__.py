"""The built-in corpus: simulated reports of heart MRI scans and their exact oracle.

A report is written one token at a time from known conditional distributions, so the best
perplexity that any language model can reach on it, in expectation, is known.

    attributes.py     patients: reference values, diagnoses, correlations
    chart.py          what a report has said so far; the Gaussian given that
    slots.py          numbers drawn given the chart; tokens from a short list
    measurements.py   every slot of the reports
    grades.py         judgements that follow from written numbers
    grammar.py        the language of the templates
    graph.py          the graph they become, and next-token tables
    wording/          the templates
    oracle.py         p(next token | tokens so far)
    patient_table.py  the table that may come with a report: p(table | report)
    foresight.py      p(next token | tokens so far, table)
    reports.py        tokens to text to documents
"""

from numerate.lm.data.cardiac.graph import END
from numerate.lm.data.cardiac.oracle import Oracle, log_probs, next_token_distribution
from numerate.lm.data.cardiac.reports import generate, render

__all__ = ["END", "Oracle", "generate", "log_probs", "next_token_distribution", "render"]
