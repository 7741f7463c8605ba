"""Numbers in view of the places where a numeral may stand: where numbers come from.

columns.py        the numbers of tables as columns, and which tables each paragraph has in view
table_numbers.py  tables to such columns: numbers of cells, with the words of their headers
operations.py     what can be computed from numbers, in one table
derivations.py    which numbers in view a numeral follows from
header_words.py   which words of headers stand before a place
features.py       what is known of a number at a place without learning
seen_numbers.py   where a numeral may have been taken from, by name
corpus_sight.py   the numbers in view of the texts of a corpus, as flat columns
view.py           what heads are given: numbers with vectors, pairs of a place and a number
pair_products.py  products of queries and keys over those pairs
collate.py        flat columns to views, on the CPU or on the device
"""
