"""The view New images: classes suggested for a folder of images without labels, and the person's answers."""
