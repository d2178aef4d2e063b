"""Several runs of one config: experiments and sweeps."""
