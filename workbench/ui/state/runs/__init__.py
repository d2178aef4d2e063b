"""The runs that this window trains, queues, or follows at places."""
