"""The preset "Omniglot, unseen characters" in plain PyTorch: Workbench must reach the same scores.

python tests/benchmarks/plain_omniglot.py SMALL1.zip ce|contrastive [EPOCHS, 20] [SEED, 0]
"""

import io
import sys
import zipfile

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import nn
from torch.nn import functional as F


def conv(a, b):
    return [nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU()]


def contrastive(z, y, margin=1.0):
    apart = torch.cdist(F.normalize(z), F.normalize(z), compute_mode="donot_use_mm_for_euclid_dist")
    same = y[:, None] == y[None, :]
    push = (margin - apart[~same]).clamp_min(0).square()
    return apart[same & ~torch.eye(len(y), dtype=torch.bool)].square().mean() + push[push > 0].mean().nan_to_num()


def batches(labels, loss, rng):
    if loss == "ce":
        yield from rng.permutation(len(labels))[: len(labels) // 64 * 64].reshape(-1, 64)
    rows = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    for _ in range(len(labels) // 64 if loss == "contrastive" else 0):
        yield np.concatenate([rng.choice(rows[k], 4, False) for k in rng.choice(len(rows), 16, False)])


def shifted(x, rng):
    moves, padded = rng.integers(0, 5, (len(x), 2)), F.pad(x, (2, 2, 2, 2), mode="replicate")
    return torch.stack([p[:, r : r + 28, c : c + 28] for p, (r, c) in zip(padded, moves, strict=True)])


path, loss, epochs, seed = sys.argv[1], sys.argv[2], *map(int, (*sys.argv[3:], *("20", "0")[len(sys.argv) - 3 :]))
torch.manual_seed(seed)
rng = np.random.default_rng(seed)
with zipfile.ZipFile(path) as archive:
    names = sorted(name for name in archive.namelist() if name.endswith(".png"))
    pictures = [ImageOps.fit(Image.open(io.BytesIO(archive.read(n))).convert("L"), (28, 28), 3) for n in names]
images = torch.from_numpy(np.stack(pictures))[:, None].float() / 127.5 - 1
labels = torch.from_numpy(np.unique([name.rpartition("/")[0] for name in names], return_inverse=True)[1])
trains = labels < labels.max().add(1) // 2
x, y, unseen, unseen_y = images[trains], labels[trains], images[~trains], labels[~trains]
body = [*conv(1, 32), *conv(32, 32), nn.MaxPool2d(2), *conv(32, 64), *conv(64, 64), nn.MaxPool2d(2), nn.Flatten()]
model = nn.Sequential(*body, nn.Linear(64 * 49, 64), nn.BatchNorm1d(64, affine=False))
head = nn.Linear(64, classes := int(y.max()) + 1)
nn.init.zeros_(head.weight), nn.init.zeros_(head.bias)
cross_entropy = nn.CrossEntropyLoss(label_smoothing=0.1 * classes / (classes - 1))
optimiser = torch.optim.Adam([*model.parameters(), *head.parameters()], 1e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * (len(y) // 64))
for epoch in range(1, epochs + 1):
    for at in batches(y.numpy(), loss, rng):
        z = model.train()(shifted(x[at], rng))
        optimiser.zero_grad()
        (cross_entropy(head(z), y[at]) if loss == "ce" else contrastive(z, y[at])).backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        z = F.normalize(torch.cat([model.eval()(part) for part in unseen.split(512)]))
    nearest = (z @ z.T).fill_diagonal_(-2).argsort(1, descending=True)[:, :19]  # R = 19: 20 drawings each
    right = (unseen_y[nearest] == unseen_y[:, None]).float()
    score = (right.cumsum(1) / torch.arange(1, 20) * right).sum(1).div(19).mean()
    print(f"{loss} epoch {epoch}: MAP@R {score:.2%}, R@1 {right[:, 0].mean():.2%}", flush=True)
