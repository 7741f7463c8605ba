"""A numeral head in a PyTorch model of one's own: from a height to a weight, as it is written."""

import torch
from torch import nn

from numerate import NumeralDistribution
from numerate.lm import heads

torch.manual_seed(1)
heights = 1.5 + 0.5 * torch.rand(512)
weights = 22 * heights**2 + 4 * torch.randn(512)
numerals = [f"{w:.{n % 2}f}" for n, w in enumerate(weights.tolist())]  # 74 or 74.3


class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        data = heads.TrainingNumerals.of(numerals)
        self.head = heads.head_class("mog").fit(data, 32, heads.HeadOptions())

    def forward(self, heights):
        hidden = self.network(heights[:, None] - 1.75)  # [N, 32]
        return NumeralDistribution.batch(self.head, heads.Context(hidden))


model = Weights()
optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(60):
    loss = -model(heights).log_prob(numerals).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()

expected = model(torch.tensor([1.55, 1.75, 1.95]))
print("log p of 67 kg", expected.log_prob("67").tolist())
print("at most 67 kg ", expected.cdf(67.0).tolist())
print("medians       ", expected.icdf(0.5).tolist())
print("draws         ", expected.sample((4,)).tolist())
