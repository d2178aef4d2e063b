"""The devices of a run: the GPUs of this machine, and the ranks that train one run on several devices."""
