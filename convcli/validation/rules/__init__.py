"""Rules over transcripts for what services reject although the schemas allow it. A dialect names the rules it obeys.

One file per subject: `links` (calls and their results), `names`, `turns` (roles and message content), `tools`
(definitions and choice), `arguments`, `keys`, `models`, `events`, `trees`, `conformance`. All rules read a `Survey`;
`verdict` turns their breaches into findings. `model/codes.toml` explains the codes.

A rule states its subjects. The survey finds in one walk which of them a transcript has, and a rule without any is not
called. It would find nothing, which a test checks for the samples of all dialects."""
