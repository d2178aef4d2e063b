"""What losses, data sets, backbones and other entries declare about themselves, read without loading torch."""
