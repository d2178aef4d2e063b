"""The sections of a report as blocks, which every format draws."""
