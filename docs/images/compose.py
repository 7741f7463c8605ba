"""Puts `inspect.png` together from three figures of `numerate inspect`.

numerate prepare cardiac --documents 600 --seed 1 --out data/cardiac
numerate train data/cardiac --model mog --epochs 8 --batch-size 10 --vocabulary 500 --out runs/mog
numerate inspect runs/softmax runs/h-softmax runs/d-rnn runs/mog runs/combination --out inspected \
    --context "Left ventricular ejection fraction is"
python docs/images/compose.py inspected/figures

with the five models trained as mog is.
"""

import sys
from pathlib import Path

from PIL import Image

GAP = 80
WIDTH = 1200


def main() -> None:
    folder = Path(sys.argv[1])
    names = ("numeral-similarities", "digit-similarities-d-rnn", "next-numeral-1")
    top, bottom, right = (Image.open(folder / f"{name}.png").convert("RGB") for name in names)
    height = max(top.height + bottom.height, right.height)
    picture = Image.new("RGB", (top.width + GAP + right.width, height), "white")
    picture.paste(top, (0, 0))
    picture.paste(bottom, (0, height - bottom.height))
    picture.paste(right, (top.width + GAP, (height - right.height) // 2))
    size = (WIDTH, round(height * WIDTH / picture.width))
    picture = picture.resize(size, Image.Resampling.LANCZOS)
    picture.save(Path(__file__).with_name("inspect.png"), optimize=True)


if __name__ == "__main__":
    main()
