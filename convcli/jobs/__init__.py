"""Work on inputs of any number and size: which files, which dialect, one process or several."""
