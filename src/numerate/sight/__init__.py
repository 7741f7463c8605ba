"""Numbers in view of the places where a numeral may stand: where numbers come from.

columns.py        the numbers of tables as columns, and which tables each paragraph has in view
table_numbers.py  tables to such columns: numbers of cells, with the words of their headers
operations.py     what can be computed from numbers, in one table
derivations.py    which numbers in view a numeral follows from
header_words.py   which words of headers stand before a place
features.py       what is known of a number at a place without learning
view.py           what heads are given: numbers, vectors, sources
collate.py        columns to batches, on the CPU or on the device
"""
