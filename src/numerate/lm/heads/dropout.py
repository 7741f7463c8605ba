"""Dropout that does not take longer than the layer it stands before."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ByteDropout(nn.Module):
    """As `nn.Dropout`, the rate rounded to 1/256.

    A CPU draws one random number for every element, which for wide states is a third of a training
    step; here one draw of 64 bits is enough for eight.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropped = min(round(256 * rate), 255)  # of 256 values of a byte

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.dropped:
            return values
        if values.device.type != "cpu":
            return F.dropout(values, self.dropped / 256)
        words = torch.empty(-(-values.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
        octets = words.view(torch.uint8)[: values.numel()].view(values.shape)
        return values * ((octets >= self.dropped) * (256 / (256 - self.dropped)))
