"""Transcripts and conversions as rows and numbers for reports."""
