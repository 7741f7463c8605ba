"""The mixture weights of a combination, fitted on the dev split when training has ended."""

from typing import Any

import numpy as np
import torch

from numerate.lm.data.batching import Corpus
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.gate_fit import FOLDS, fit_gate
from numerate.lm.model.numeral_lm import NumeralLM


def fit_mixture_weights(
    network: NumeralLM, dev: Corpus, documents: np.ndarray, batch_size: int
) -> dict[str, Any]:
    """Give the members the weights that held-out numerals call for; what the run shall remember.

    `documents` says where each paragraph is from. Everything ends up on the CPU in float64, where
    the fit is the same whatever the device. A head that combines nothing has no weights, nor has
    one that was to be trained plainly any but the learnt ones.
    """
    head = network.head
    if not isinstance(head, CombinationHead) or head.plain or len(np.unique(documents)) < FOLDS:
        return {}
    numbers = torch.from_numpy(np.unique(documents, return_inverse=True)[1])  # [paragraphs]
    hidden, members, evidence, sources = [], [], [], []
    network.eval()
    with torch.no_grad():
        for paragraphs in dev.batches(batch_size):
            batch = dev.collate(paragraphs)
            if batch.numeral_count:
                context = network.backbone.contexts(batch)
                each = head.log_prob_by_member(context, batch.numerals)  # type: ignore[arg-type]
                hidden.append(context.hidden.double().cpu())
                members.append(each.double().cpu())
                beside = head.evidence(context)
                evidence.append(torch.zeros_like(each) if beside is None else beside)
                sources.append(numbers[dev.numeral_paragraphs(paragraphs)])
    if not sources:
        return {}
    parts = torch.cat(hidden), torch.cat(members), torch.cat(sources)
    beside = torch.cat(evidence).double().cpu()
    fit = fit_gate(head.weights.detach().cpu(), *parts, beside)
    with torch.no_grad():
        head.weights.copy_(fit.weights)
    return {"mixture_weights": {"strength": fit.strength, "gain": fit.fitted - fit.learnt}}
