"""Work on inputs of any number and size: finding files, choosing dialects, running one or several processes."""
