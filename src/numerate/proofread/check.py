"""`numerate.check`: a file, a text or a document, proofread."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from numerate.config import NONE, Configuration, find_configuration
from numerate.documents.document import Document, Table
from numerate.documents.text import read_text
from numerate.errors import DomainWarning, NumerateError
from numerate.places import is_remote, local_path
from numerate.proofread.inputs import is_read, read_document
from numerate.proofread.model_evidence import (
    DetectorLike,
    LanguageModel,
    Model,
)
from numerate.proofread.models import Models, open_models
from numerate.proofread.options import CheckOptions
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import failures_of, misfits_of
from numerate.proofread.session import Session

LONGEST_NAME = 1000  # characters of what may be the name of a file


def check(
    what: str | Path | Document,
    model: Any = None,
    *,
    tables: Sequence[Table] = (),
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    alarms: float | None = None,
    min_probability: float | None = None,
) -> ProofreadDocument:
    """What is wrong with the numbers of a file, a text or a document, the most probable first.

    Without a `model` everything is recomputed that can be, at once. A model, or a list of them, is
    one of `numerate.load`, a detector, or what names one: a run, hf:PATH, "articles", which comes
    with the package. `tables` are read beside those of the document. `select` and `ignore` are
    codes of rules, or their beginnings.
    `alarms` is the share of right numerals that a model may flag on text like its training data,
    by default 1 %, or what its dev split allows; that a text is unlike it is told by a warning.
    A string that is the name of a file is that
    file; one without spaces that ends like the name of a file of a format that is read (.md, .xml)
    is never a text: where there is no such file, that is an error.
    `min_probability` is that of the findings that are returned, by default 0.4; the others are
    `less_likely`. `numerate: ignore` in the text hides findings, and so does the numerate.toml
    nearest to a file; its model, baseline and format are for the command line.

    Examples:
        >>> import numerate
        >>> found = numerate.check("The effect was large, t(28) = 2.20, p = 0.36.")
        >>> [(finding.code, finding.written) for finding in found]
        [('NUM301', '0.36')]
    """
    if isinstance(what, DetectorLike | LanguageModel):
        raise NumerateError(
            "check: got a model first, as in earlier versions; expected numerate.check(text, model)"
        )
    document = as_document(what, "check")
    options = CheckOptions().configured(
        project := _project_of(what),
        models=(NONE,),
        select=tuple(select),
        ignore=tuple(ignore),
        alarms=alarms,
        min_probability=min_probability,
    )
    session = Session(options, project, Models.opened(_models(model)))
    found = session.check(document, _checked(tables))
    for line in misfits_of(found):
        warnings.warn(line, DomainWarning, stacklevel=2)
    for line in failures_of(found):
        warnings.warn(line, RuntimeWarning, stacklevel=2)
    return found


def _project_of(what: str | Path | Document) -> Configuration:
    """The configuration nearest to a file of this machine; a text has none."""
    is_file = isinstance(what, Path) or (isinstance(what, str) and names_a_file(what))
    if not is_file or is_remote(str(what)):
        return Configuration()
    return find_configuration(local_path(str(what)).parent)


def as_document(what: str | Path | Document, name: str) -> Document:
    """What was given, under a `name` that errors call it by, is read if it is the name of a file,
    and else is the text itself."""
    if isinstance(what, Document):
        return what
    if isinstance(what, str) and not names_a_file(what):
        return read_text(what)
    if not isinstance(what, str | Path):
        got = type(what).__name__
        raise NumerateError(f"{name}: got {got}, expected a text, the name of a file or a document")
    documents = read_document(str(what))
    if len(documents) != 1:
        raise NumerateError(
            f"{what}: got {len(documents)} documents, expected one; numerate.documents.read_file "
            "gives them one by one"
        )
    return documents[0]


def names_a_file(text: str) -> bool:
    """Whether there is such a file, or should be."""
    if not text.strip() or len(text) > LONGEST_NAME or "\n" in text or "\0" in text:
        return False
    if is_remote(text):
        return len(text.split()) == 1
    try:
        if local_path(text).exists():  # of a folder it is said that it is none
            return True
    except OSError:
        return False
    return len(text.split()) == 1 and is_read(Path(text.strip()).name)


def _checked(tables: Sequence[Table]) -> Sequence[Table]:
    alone = isinstance(tables, Table | str | Path)
    wrong = [tables] if alone else [one for one in tables if not isinstance(one, Table)]
    if wrong:
        expected = "a list of tables, as numerate.read_tables gives"
        raise NumerateError(f"tables: got {type(wrong[0]).__name__}, expected {expected}")
    return tables


def _models(model: Any) -> list[Model]:
    return [opened for one in _listed(model) for opened in _opened(one)]


def _listed(model: Any) -> Sequence[Any]:
    """One, several or none, opened or named."""
    if model is None:
        return []
    return model if isinstance(model, list | tuple) else [model]


def _opened(one: Any) -> list[Model]:
    if isinstance(one, str | Path):
        return open_models(str(one))
    if isinstance(one, DetectorLike | LanguageModel):
        return [one]
    expected = "a run, hf:PATH, the name of an installed model, or a model"
    raise NumerateError(f"model: got {type(one).__name__}, expected {expected}")
