"""A measurement of robustness as it is stored, for tests that only read one."""

from workbench.robustness.kinds import CHANGES


def scores(map_at_r):
    return {f"{name}{end}": map_at_r for name in ("MAP@R", "recall@1") for end in ("", "/low", "/high")}


def made_up(names):
    """A measurement in which each strength loses 0.05 more."""
    changes = [
        {
            "name": change.name, "title": change.title, "source": change.source,
            "levels": [
                {"words": change.words(level), "strength": float(strength), "metrics": scores(0.85 - 0.05 * level),
                 "difference": {name: [-0.05 - 0.05 * level] * 3 for name in ("MAP@R", "recall@1")}}
                for level, strength in enumerate(change.strengths)
            ],
        }
        for change in CHANGES if change.name in names
    ]  # fmt: skip
    return {"epoch": 1, "queries": 12, "queries_there": 12, "gallery": 12, "side": 8, "apart": 0.0,
            "unchanged": {"metrics": scores(0.9)}, "changes": changes}  # fmt: skip
