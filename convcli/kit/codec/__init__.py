"""Tables of a conversation log: each key is stated once, as data.

`table` are the records of a table, as a file or a dialect states them; `layout` is the compiled form; `reading` and
`writing` are the two directions; `schema` is the JSON Schema of a table. `check` finds what a table does not explain in
a file, and `draft` writes a first table from files. What no table can say (rows that are joined, branches, events that
repeat messages) needs a module in `dialects/`.
"""
