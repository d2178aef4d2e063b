"""What is known of losses, data sets, backbones and the rest before torch is loaded."""
