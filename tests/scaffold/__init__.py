"""`python -m tests.scaffold NAME FILE…` makes the skeleton of a new dialect from files of its kind."""
