"""RankMI: a statistics network distinguishes positive from negative distances; the embeddings learn to help it."""

from collections.abc import Mapping
from itertools import pairwise
from math import log

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.charts import Chart, Marks
from workbench.losses.batch import checked_batch, distances, in_double, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.cosine_softmax import proxy_rate
from workbench.losses.published import measured_on
from workbench.losses.search_space import AROUND, NETWORK_RATE, between, one_of
from workbench.losses.shared.distance_weighted import times_drawn
from workbench.losses.shared.pair_lists import positive_pair_list
from workbench.numerals import significant
from workbench.params import Params, param
from workbench.registry import register

NEWTON_STEPS, NEWTON_END = 100, 1e-6  # Algorithm 1
FLAT = 1e-8  # slope of T below which a Newton step would leave the sphere
BINS = 40


class RankMIParams(Params):
    """Parameters of RankMI."""

    ratio: int = param(1, ge=1, le=4, help="Updates of the statistics network for each update of the embeddings.")
    order: float = param(
        0.0, ge=0, le=100, symbol="λ", label="Order loss", help="Weight of the penalty where V rises with the distance."
    )
    depth: int = param(5, ge=2, le=16, unit="layers", help="Layers of the statistics network.")
    width: int = param(128, ge=1, le=4096, help="Width of the statistics network's layers.")
    proxy_lr: float = proxy_rate(
        1.0, "Learning rate of the statistics network, as a multiple.", "Network learning rate"
    )


class Statistics(nn.Module):
    """V_phi: distances [m] -> values [m]; an MLP plus a line that is decreasing at initialisation.

    The supplement gives depth 5 and width 128. The line and its initial value, V = 2 - 2 d, are ours: V must decrease
    with the distance.
    """

    def __init__(self, depth: int, width: int) -> None:
        super().__init__()
        sizes = [1, *[width] * (depth - 1), 1]
        layers = [nn.Linear(*pair) for pair in pairwise(sizes)]
        nn.init.zeros_(layers[-1].weight)
        nn.init.zeros_(layers[-1].bias)
        self.layers = nn.ModuleList(layers)
        self.line = nn.Parameter(torch.tensor([2.0, -2.0]))

    def forward(self, apart: Tensor, weights: Mapping[str, Tensor] | None = None) -> Tensor:
        """V at distances [m]; with other weights than its own if `weights` names them."""
        of = dict(self.named_parameters()) if weights is None else weights
        apart = apart.to(of["line"].dtype)
        hidden, last = apart[:, None], len(self.layers) - 1
        for layer in range(last + 1):
            hidden = F.linear(hidden, of[f"layers.{layer}.weight"], of[f"layers.{layer}.bias"])
            hidden = hidden if layer == last else hidden.relu()
        return hidden[:, 0] + of["line"][0] + of["line"][1] * apart


@register(
    "loss", "rankmi", title="RankMI", params=RankMIParams, needs_pairs=True,
    family="Information", formula="mean_p log(1 + exp(−V(D_ap))) + mean_n log(1 + exp(V(D_an))) + λ order(V)",
    source="Kemertas et al. 2020 (RankMI), supplement: Eq. 4, 6, 10, 11 and Algorithm 1",
    batch="classes × images; the paper: 120 images",
    defaults={
        "cub": {
            "depth": 5, "width": 128, "ratio": 1, "order": 0.0, "training.batch_size": 120, "embedding.dim": 128,
            "sampler.name": "classes_images",
        },
        "cars": {"embedding.dim": 128},
    },
    defaults_source="Kemertas et al. 2020 (RankMI), supplement Sections 3 and 6; Cars-196: Table 2",
    measured=measured_on({"order": 1.0}, "omniglot", "mnist"),
    search=NETWORK_RATE | {
        "ratio": one_of(1, 2, 4, source="Kemertas et al. 2020 (RankMI), supplement, Table 4"),
        "order": between(0, 2, "λ of Eq. 11: the paper has no number; 0 leaves it out"),
        "proxy_lr": between(0.1, 10, AROUND, log=True),
    },
)  # fmt: skip
class RankMI(BatchLoss[RankMIParams]):
    """2 log 2 minus the estimate of Eq. 4: -mean_P logsigmoid(V) - mean_N logsigmoid(-V), plus λ times the order loss.

    With T = log 2 - log(1 + exp(-V)). In training the module alternates: `ratio` steps change the network alone, then
    one changes the embeddings alone; in evaluation the value depends on both. Negatives are drawn by distance, one
    for each positive pair (their expectation in evaluation). A part without pairs is 0.
    """

    boundary: Tensor

    def __init__(self, params: RankMIParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.dim, self.proxy_lr_multiplier = embedding_dim, params.proxy_lr
        self.statistics = Statistics(params.depth, params.width)
        self.register_buffer("boundary", torch.tensor(1.0))
        self.boundary_found = True
        self.steps = 0
        self.bounds: list[tuple[int, float]] = []  # (steps, JSD bound) of every evaluation of the probe

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        network: dict[str, Tensor] = dict(self.statistics.named_parameters())
        if self.training:
            self.steps += 1
            if self.steps % (self.params.ratio + 1):
                embeddings = embeddings.detach()
            else:
                network = {name: weight.detach() for name, weight in network.items()}
        return self._value(embeddings, labels, network)

    def _value(self, embeddings: Tensor, labels: Tensor, network: Mapping[str, Tensor]) -> Tensor:
        apart = distances(on_sphere(embeddings))
        positive, negative = pair_masks(labels)
        times = times_drawn(apart.detach(), negative, positive.sum(1), self.dim, self.training)
        anchors, partners = positive_pair_list(labels)
        drawn = self._drawn(times.flatten(), len(anchors))
        first, second, weights = apart[anchors, partners], apart.flatten()[drawn], times.flatten()[drawn]
        together = torch.cat([first, second])
        v = self._v(together, network)
        shares = torch.cat([torch.full_like(first, 1 / max(1, len(first))), weights / weights.sum().clamp_min(1e-12)])
        signs = torch.cat([torch.ones_like(first), -torch.ones_like(second)])
        value = -(shares * F.logsigmoid(signs * v)).sum()
        order = self.params.order
        return value + order * self._order(together, shares, network) if order else value

    def _drawn(self, times: Tensor, positives: int) -> Tensor:
        """Places in `times` of the negatives that count; on a GPU one for each positive pair, some of weight 0."""
        if self.training and times.device.type == "cuda":  # where nonzero would wait; on a CPU it takes less time
            return times.topk(min(positives, len(times)), sorted=False).indices
        return times.nonzero()[:, 0]

    def _v(self, apart: Tensor, network: Mapping[str, Tensor]) -> Tensor:
        scores: Tensor = self.statistics(apart, network)
        return scores

    def _order(self, apart: Tensor, shares: Tensor, network: Mapping[str, Tensor]) -> Tensor:
        """Eq. 10: mean positive slope of V at the distances of positives and of negatives."""
        if not len(apart):
            return apart.sum()
        at = apart.detach().requires_grad_()
        (slope,) = torch.autograd.grad(self._v(at, network).sum(), at, create_graph=True)
        return (shares * slope.clamp_min(0)).sum()

    @torch.no_grad()
    def jsd_bound(self, embeddings: Tensor, labels: Tensor) -> float:
        """Lower bound on the Jensen-Shannon divergence of the two kinds of distances, in nats, 0 to 2 log 2.

        All negatives count. The bound is a supremum over V: if this V gives less than 0, V = 0 gives 0.
        """
        embeddings, labels = checked_batch(embeddings, labels)
        apart = distances(on_sphere(embeddings))
        positive, negative = pair_masks(labels)
        if not positive.any() or not negative.any():
            return 0.0
        v_positive, v_negative = self.statistics(apart[positive]), self.statistics(apart[negative])
        bound = 2 * log(2) + F.logsigmoid(v_positive).mean() + F.logsigmoid(-v_negative).mean()
        return min(max(bound.item(), 0.0), 2 * log(2))

    def find_boundary(self) -> float:
        """beta, where T (and so V) is 0, by Newton's method from the last one (Algorithm 1).

        With a flat slope, or a root outside (0, 2), the last one is kept and `boundary_found` is false.
        """
        beta = self.boundary.item()
        network = {name: in_double(weight.detach()) for name, weight in self.statistics.named_parameters()}
        for _ in range(NEWTON_STEPS):
            at = network["line"].new_tensor([beta], requires_grad=True)
            with torch.enable_grad():
                t = log(2) + F.logsigmoid(self._v(at, network))
                (slope,) = torch.autograd.grad(t.sum(), at)
            if abs(slope.item()) < FLAT:
                break
            step = t.item() / slope.item()
            beta -= step
            if not -2 < beta < 4:  # the network was not trained far outside the sphere
                break
            if abs(step) <= NEWTON_END:
                self.boundary_found = 0 < beta < 2
                if self.boundary_found:
                    self.boundary.fill_(beta)
                return self.boundary.item()
        self.boundary_found = False
        return self.boundary.item()

    @torch.no_grad()
    def charts(self, embeddings: Tensor, labels: Tensor) -> list[Chart]:
        """V, T and beta over the distances of the probe's pairs (first 512 images), and the JSD bound over time."""
        embeddings, labels = embeddings[:512], labels[:512]
        beta = self.find_boundary()
        self.bounds.append((self.steps, self.jsd_bound(embeddings, labels)))
        apart = distances(on_sphere(embeddings))
        masks = pair_masks(labels)
        centres = (torch.arange(BINS) + 0.5) * 2 / BINS
        marks = []
        for title, mask in zip(("positives, share", "negatives, share"), masks, strict=True):
            counts = torch.histc(apart[mask].float().cpu(), BINS, 0.0, 2.0)
            shares = counts / counts.sum().clamp_min(1)
            marks.append(Marks(title, "bars", tuple(centres.tolist()), tuple(shares.tolist())))
        v = self.statistics(centres.to(apart)).float().cpu()
        t = log(2) + F.logsigmoid(v)
        note = f"β = {significant(beta)}{'' if self.boundary_found else ' (not found now: the last one)'}"
        curves = (
            Marks("V", "line", tuple(centres.tolist()), tuple(v.tolist()), axis="right"),
            Marks("T", "dashed", tuple(centres.tolist()), tuple(t.tolist()), axis="right"),
            Marks("β", "vertical", (beta,), ()),
        )
        steps, bounds = zip(*self.bounds, strict=True)
        over_time = Marks("JSD bound", "line", tuple(float(step) for step in steps), tuple(bounds))
        return [
            Chart("V and T over the probe's distances, share of pairs", "distance", (*marks, *curves), note),
            Chart(
                "Bound on the Jensen-Shannon divergence, nats",
                "step",
                (over_time,),
                f"Now {significant(bounds[-1])} of at most {significant(2 * log(2))}.",
            ),
        ]

    def get_extra_state(self) -> dict[str, object]:
        """What a checkpoint stores besides the tensors: the steps, the bounds and whether the boundary was found."""
        return {"steps": self.steps, "bounds": [list(bound) for bound in self.bounds], "found": self.boundary_found}

    def set_extra_state(self, state: dict[str, object]) -> None:
        """Restores what get_extra_state returned."""
        self.steps, self.boundary_found = int(str(state["steps"])), bool(state["found"])
        bounds = state["bounds"]
        assert isinstance(bounds, list)
        self.bounds = [(int(step), float(bound)) for step, bound in bounds]
