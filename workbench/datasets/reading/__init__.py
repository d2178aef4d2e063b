"""What data sets share when they are read: their place, their lists, and files of many images."""
