"""The command line: one file for each command, and underscore files for what they share."""
