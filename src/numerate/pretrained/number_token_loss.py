"""Number token loss (Zausinger et al., 2025): a digit far from the true one costs more than one
beside it.

The likelihood knows no such order. As a rival way to tune a pretrained model, the expected
distance of the digit that is written from the true one is added to it; what is evaluated stays the
distribution. The package `ntloss`, by the authors, has the loss itself.
"""

from copy import deepcopy

import numpy as np
from torch import Tensor

from numerate.errors import BackboneError, NumerateError
from numerate.pretrained.language_model import PretrainedLM

PROBE = " 1234567890"


class NumberTokenLoss:
    """NTL-WAS, times a weight, of digits that are a token each."""

    def __init__(self, lm: PretrainedLM, weight: float) -> None:
        """`weight` is that of one digit."""
        try:
            from ntloss import NTLoss
        except ImportError:
            raise NumerateError(
                "--number-token-loss needs ntloss: pip install 'numerate[ntloss]'"
            ) from None
        spelled = {lm.tokens.texts.get(token, "").strip() for token in lm.tokens.spell(PROBE)}
        if not spelled <= {*PROBE, ""}:
            raise BackboneError(
                f"{lm.backbone.path}: its tokenizer writes several digits in one token, expected "
                "one token a digit for --number-token-loss"
            )
        vocabulary = lm.scorer.model.get_output_embeddings().weight.shape[0]
        self._loss = NTLoss(deepcopy(lm.backbone.tokenizer), vocabulary)  # which adds tokens to it
        self.weight = weight
        self.digits: np.ndarray = self._loss.number_token_ids.numpy()

    def of(self, logits: Tensor, digits: Tensor) -> Tensor:
        """Summed over digit tokens [K], given what the model says before each: [K, V]."""
        found: Tensor = self._loss(logits[None], digits[None], reduction="sum")
        return self.weight * found
