"""What was measured of a run: curves, evaluations, rankings, maps, deployments, and the array files of them."""
