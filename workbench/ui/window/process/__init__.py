"""The process itself: crashes, defects, garbage collection, and the classes of Qt."""
