"""The records that everything else is about, without behaviour: transcripts, dialects, rules, findings and errors."""
