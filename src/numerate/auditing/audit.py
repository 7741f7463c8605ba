"""`numerate.audit`: every document of a corpus checked, block by block.

The source is cut into pieces here, workers read and check them, and what they find comes back in
the order of the source. A block is written when it is full, so an audit that was killed goes on
after its last whole block, and the number of workers cannot change a byte of what it writes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from numerate.auditing.audit_page import as_page
from numerate.auditing.audit_summary import Summary, summarise
from numerate.auditing.audited import FAILED, Audited, Row
from numerate.auditing.auditor import Audit, auditor, not_checked
from numerate.auditing.findings_folder import PAGE, SUMMARY, FindingsFolder, as_json
from numerate.auditing.ledger import Ledger, Packet
from numerate.auditing.looked_for import LookedFor
from numerate.auditing.pieces import Piece, pieces
from numerate.auditing.settling import settle
from numerate.configuration import Configuration
from numerate.corpus.sources import Progress, Source
from numerate.engines import Engine, engine
from numerate.errors import FailureError, NumerateError, SourceError, WorkerDiedError, check_choice
from numerate.proofreading.check_command import Opening
from numerate.proofreading.given_files import is_read
from numerate.proofreading.wanted import Wanted

BLOCK = 256  # documents: what a kill may cost
TIMEOUT = 600.0  # seconds for one document
MOST_DEATHS = 20  # pieces one after the other of which workers die: then it is not the pieces

Report = Callable[["State"], None]
