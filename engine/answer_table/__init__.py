"""The table of values: documents by fields, filtered and sorted, page by page.

Other rooms may import what stands here.
"""

from engine.answer_table.counts import FlagCount, TableCounts, count_values
from engine.answer_table.selection import FLAGS, Filter, Sort, TableRequest, parse_request
from engine.answer_table.table import MOST_ROWS, BrokenRule, CellView, TableRow, every_row, table_page

__all__ = [
    "FLAGS",
    "MOST_ROWS",
    "BrokenRule",
    "CellView",
    "Filter",
    "FlagCount",
    "Sort",
    "TableCounts",
    "TableRequest",
    "TableRow",
    "count_values",
    "every_row",
    "parse_request",
    "table_page",
]
