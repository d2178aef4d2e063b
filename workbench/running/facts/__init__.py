"""What a run is, before its first step: its times, its disk, its images, remarks, and what it depends on."""
