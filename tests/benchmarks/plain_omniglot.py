"""The preset "Omniglot, unseen characters" in plain PyTorch: what Workbench must not be worse than.

python tests/benchmarks/plain_omniglot.py --zip SMALL1.zip --loss ce|contrastive [--epochs 20] [--seed 0]
"""

import argparse
import io
import zipfile

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import nn
from torch.nn import functional as F


def images_and_labels(path):
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".png"))
        pictures = [ImageOps.fit(Image.open(io.BytesIO(archive.read(n))).convert("L"), (28, 28), 3) for n in names]
    classes = sorted({name.rpartition("/")[0] for name in names})
    labels = [classes.index(name.rpartition("/")[0]) for name in names]
    return torch.from_numpy(np.stack(pictures))[:, None], torch.tensor(labels)


def network(dim):
    def conv(a, b):
        return [nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU()]

    body = [*conv(1, 32), *conv(32, 32), nn.MaxPool2d(2), *conv(32, 64), *conv(64, 64), nn.MaxPool2d(2), nn.Flatten()]
    return nn.Sequential(*body, nn.Linear(64 * 49, dim), nn.BatchNorm1d(dim, affine=False))


def contrastive(z, y, margin=1.0):
    apart = torch.cdist(F.normalize(z), F.normalize(z), compute_mode="donot_use_mm_for_euclid_dist")
    same = y[:, None] == y[None, :]
    pull = apart[same & ~torch.eye(len(y), dtype=torch.bool)].square().mean()
    push = (margin - apart[~same]).clamp_min(0).square()
    return pull + push[push > 0].mean().nan_to_num()


def batches(labels, loss, rng):
    if loss == "ce":
        yield from rng.permutation(len(labels))[: len(labels) // 64 * 64].reshape(-1, 64)
    else:
        rows = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        for _ in range(len(labels) // 64):
            yield np.concatenate([rng.choice(rows[k], 4, False) for k in rng.choice(len(rows), 16, False)])


def shifted(x, rng):
    padded = F.pad(x, (2, 2, 2, 2), mode="replicate")
    moves = rng.integers(0, 5, (len(x), 2))
    return torch.stack([p[:, r : r + 28, c : c + 28] for p, (r, c) in zip(padded, moves, strict=True)])


def evaluate(model, x, y):
    with torch.no_grad():
        z = F.normalize(torch.cat([model.eval()(part) for part in x.split(512)]))
    similar = (z @ z.T).fill_diagonal_(-2)
    right = (y[similar.argsort(1, descending=True)] == y[:, None]).float()[:, :19]  # R = 19: 20 drawings each
    precision = right.cumsum(1) / torch.arange(1, 20)
    return (precision * right).sum(1).div(19).mean().item(), right[:, 0].mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zip", required=True)
    parser.add_argument("--loss", choices=["ce", "contrastive"], required=True)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    images, labels = images_and_labels(args.zip)
    trains = labels < labels.max().add(1) // 2
    x, y = images[trains].float() / 127.5 - 1, labels[trains]
    model, head = network(64), nn.Linear(64, int(y.max()) + 1)
    nn.init.zeros_(head.weight), nn.init.zeros_(head.bias)
    optimiser = torch.optim.Adam([*model.parameters(), *head.parameters()], 1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, args.epochs * (len(y) // 64))
    smoothing = 0.1 * len(head.bias) / (len(head.bias) - 1)
    for epoch in range(1, args.epochs + 1):
        for at in batches(y.numpy(), args.loss, rng):
            z = model.train()(shifted(x[at], rng))
            ce = F.cross_entropy(head(z), y[at], label_smoothing=smoothing) if args.loss == "ce" else None
            value = ce if ce is not None else contrastive(z, y[at])
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            schedule.step()
        if epoch % 2 == 0:
            score, first = evaluate(model, images[~trains].float() / 127.5 - 1, labels[~trains])
            print(f"{args.loss} epoch {epoch}: MAP@R {score:.2%}, R@1 {first:.2%}", flush=True)


if __name__ == "__main__":
    main()
