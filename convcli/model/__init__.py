"""The records that everything else uses, without behavior: transcripts, dialects, rules, findings and errors."""
