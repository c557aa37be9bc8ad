"""What services reject though the schemas allow it, as rules over transcripts. A dialect names those that it obeys.

One file for each matter: `links` (calls and their results), `names`, `turns` (roles and what a turn may hold),
`tools` (definitions and choice), `arguments`, `keys`, `models`, `events`, `trees`, `conformance`. `survey` is what
they all look at, and `verdict` makes findings of their breaches. The codes are explained in `model/codes.toml`."""
