"""What is asked of a stored evaluation: why queries fail, which classes are confused, what an image is like.

For the window, the command line, reports and exports alike: no Qt here, and no torch before it is needed.
"""
