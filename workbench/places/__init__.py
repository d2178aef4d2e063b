"""Places, which are other machines where runs train: what they are, how runs are sent, and how they are followed."""
