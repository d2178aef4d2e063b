"""Who works in a workspace: the process of a run or a sweep, and the machine that has it on a network disk."""
