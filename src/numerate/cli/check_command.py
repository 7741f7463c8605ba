"""`numerate check`: read, proofread, leave out what is known, report, mend what is asked for."""

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from pathlib import Path

from numerate.config import Configuration, find_configuration
from numerate.documents import STANDARD_INPUT
from numerate.documents.document import Document, Table
from numerate.documents.table_file import read_table_file
from numerate.documents.taken_in import taken_in
from numerate.errors import BROKEN, FAILED, WRONG_USE, NumerateError
from numerate.places import is_remote, local_path, place_of
from numerate.proofread import fixing
from numerate.proofread.baseline import read_baseline, without_known, write_baseline
from numerate.proofread.filters import likely, without_ignored
from numerate.proofread.formats.html_report import as_html
from numerate.proofread.formats.printed_report import as_csv, as_json, print_report
from numerate.proofread.formats.sarif import as_sarif
from numerate.proofread.inputs import Input, all_inputs, read_document
from numerate.proofread.model_evidence import looked_for, usual_alarms
from numerate.proofread.models import (
    NOBODY,
    Asked,
    Opening,
    models_asked,
    proofread_as_it_fits,
)
from numerate.proofread.options import CheckOptions, check_options
from numerate.proofread.proofread import ProofreadDocument, proofread
from numerate.proofread.report import Report, coverage_in_words
from numerate.proofread.selection import chosen_codes, split_codes
from numerate.proofread.suppression import suppress
from numerate.reports.notices import plain_console, say, warn
from numerate.reports.progress import PassProgress


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What was read, the configuration of each document, and what cannot be read."""

    documents: list[Document] = field(default_factory=list)
    projects: list[Configuration] = field(default_factory=list)
    tables: list[Document] = field(default_factory=list)  # files that --table names
    errors: list[str] = field(default_factory=list)  # one line each
    missing: list[Input] = field(default_factory=list)  # documents
    missing_tables: list[Path] = field(default_factory=list)

    @property
    def lacks_named(self) -> bool:
        """Whether anything cannot be read that was named, and not found in a folder."""
        return bool(self.missing_tables) or not all(one.in_folder for one in self.missing)


def check_files(files: list[str], wanted: CheckOptions, open_model: Opening) -> int:
    """Print the findings, then what cannot be read, and return the exit status.

    It is 2 where a file that was named cannot be read, whatever is found in the others; 1 where
    there is a finding, or a document that a model does not fit; 70 where a rule has failed.
    """
    check_options(wanted, files)
    codes = chosen_codes(split_codes(wanted.select), split_codes(wanted.ignore))
    inputs = _read(files, wanted)
    documents, projects = inputs.documents, inputs.projects
    if inputs.errors and not documents and not inputs.tables:  # no report looks like an all-clear
        return _end(inputs, WRONG_USE)
    given = [table for file in inputs.tables for table in file.tables]
    asked = models_asked(wanted, codes, open_model, documents, given) if documents else NOBODY
    in_view = [(document, _without(given, document)) for document in documents]
    # What is wrong with tables by themselves is reported once, under their own files.
    names = {_path(document) for document in documents}
    seen: list[Table] = []
    for file in inputs.tables:
        project = configuration_for(file.name)
        if _path(file) not in names and not project.leaves_out(file.name):
            in_view.append((file, list(seen)))
            projects.append(project)
        seen += file.tables
    report, sought = _proofread(in_view, asked, wanted, codes)
    report = replace(_without_ignored(report, projects), unread=tuple(inputs.errors))
    if wanted.write_baseline:
        return _end(inputs, _write_baseline(report, sought, wanted, inputs))
    if wanted.baseline is not None:
        left = without_known(report.documents, read_baseline(wanted.baseline))
        known = len(report) - sum(map(len, left))
        report = replace(report, documents=left, known=known)
    report = _likely(report, wanted.min_probability)
    _show(report, wanted)
    for line in inputs.errors:
        warn(line)
    mended = _fix(report) if wanted.fix else 0
    if report.failures:
        return BROKEN
    if inputs.lacks_named:
        return WRONG_USE
    if len(report) > mended or report.misfits:
        return FAILED
    return WRONG_USE if inputs.errors else 0


def _end(inputs: _Inputs, status: int) -> int:
    for line in inputs.errors:
        warn(line)
    return status


def _write_baseline(
    report: Report, sought: frozenset[str], wanted: CheckOptions, inputs: _Inputs
) -> int:
    """Write it without losing what cannot be seen now: known findings of files that cannot be
    read stay known, and all known findings where a table is missing that shows some of them."""
    assert wanted.baseline is not None
    failed = {failure.code for proof in report.documents for failure in proof.failures}
    looked_for = frozenset() if inputs.missing_tables else sought - failed
    say(f"{wanted.baseline}: {write_baseline(wanted.baseline, report.documents, looked_for)}")
    for line in report.failures:
        warn(line)
    if report.failures:
        return BROKEN
    return WRONG_USE if inputs.errors else 0


def _read(files: list[str], wanted: CheckOptions) -> _Inputs:
    """Read all that can be read; what cannot be costs nothing else."""
    inputs = _Inputs()
    documents, projects = list[Document](), list[Configuration]()
    in_folder = set[str]()
    for one in all_inputs(files, wanted.input_format):
        if one.in_folder:
            in_folder.add(one.name)
        try:
            project = configuration_for(one.name)
            if project.leaves_out(one.name):
                say(f"{one.name}: not checked, as {project.path} says")
                continue
            if one.error is not None:
                raise one.error
            read = read_document(one.name, wanted.input_format, wanted.field)
        except NumerateError as error:
            inputs.missing.append(one)
            inputs.errors.append(str(error))
        else:
            documents += read
            projects += [project] * len(read)
    parts: dict[Path, list[Path]] = {}
    for document in documents:
        takes_in = (Path(name).resolve() for name in document.files)
        parts.setdefault(_path(document), []).extend(takes_in)
    elsewhere = taken_in(parts)
    kept = [one.name not in in_folder or _path(one) not in elsewhere for one in documents]
    inputs.documents.extend(compress(documents, kept))
    inputs.projects.extend(compress(projects, kept))
    for file in dict.fromkeys(wanted.tables):
        try:
            inputs.tables.append(_read_table(file))
        except NumerateError as error:
            inputs.missing_tables.append(file)
            inputs.errors.append(str(error))
    inputs.errors[:] = dict.fromkeys(inputs.errors)
    return inputs


def _read_table(file: Path) -> Document:
    elsewhere = place_of(file)
    return read_table_file(elsewhere, file.read_bytes()) if elsewhere else read_table_file(file)


def _without(tables: list[Table], document: Document) -> list[Table]:
    """Those that are not its own already."""
    return [one for one in tables if one.file is None or _path(one.file) != _path(document)]


def _path(document: Document) -> Path:
    return Path(document.name).resolve()


def configuration_for(file: str) -> Configuration:
    """The nearest to a document; to the working folder for standard input and what is elsewhere."""
    if file == STANDARD_INPUT or is_remote(file):
        return find_configuration(Path())
    path = local_path(file)
    return find_configuration(path if path.is_dir() else path.parent)


def _proofread(
    in_view: list[tuple[Document, list[Table]]],
    asked: Asked,
    wanted: CheckOptions,
    codes: frozenset[str],
) -> tuple[Report, frozenset[str]]:
    """Each document with the tables beside it; and the codes that were looked for."""
    found: list[ProofreadDocument] = []
    unneeded: list[str] = []
    names: dict[str, None] = {}
    read = 0  # numbers, by models
    sought = looked_for(codes, ())
    whole = sum(len(document.paragraphs) for document, _ in in_view)
    before = 0  # paragraphs that have been read
    with PassProgress() as progress:

        def proof_by(
            document: Document, tables: list[Table], before: int, asked: Asked
        ) -> ProofreadDocument:
            count = len(asked.models)

            def told(done: int) -> None:
                progress("checking", count * before + done, count * whole)

            return proofread(
                document,
                tables,
                asked.models,
                select=codes,
                alarms=wanted.alarms or usual_alarms(asked.models),
                progress=told if count * whole else None,
                beside=False,
            )

        for document, tables in in_view:
            proof, by = proofread_as_it_fits(asked, partial(proof_by, document, tables, before))
            before += len(document.paragraphs)
            looked = looked_for(codes, by.models)
            sought |= looked
            if by.is_implied:
                # Who has not asked a model is not told what it finds unusual but does not flag.
                proof = replace(proof, unusual=())
                if not names:
                    say(f"with the model {by.references[0]}; --model none recomputes alone")
            names |= dict.fromkeys(by.names)
            read += proof.numerals if by.names else 0
            proof, lines = suppress(proof, looked)
            found.append(proof)
            unneeded += lines
    alarms = (wanted.alarms or usual_alarms(asked.models)) if names else None
    return Report(found, tuple(names), read, alarms, unneeded=tuple(unneeded)), sought


def _without_ignored(report: Report, projects: list[Configuration]) -> Report:
    """As each document's configuration wants it."""
    pairs = zip(report.documents, projects, strict=True)
    left = [without_ignored(proof, project) for proof, project in pairs]
    if gone := len(report) - sum(map(len, left)):
        say(f"{gone} found but ignored, as the configuration says")
    return replace(report, documents=left)


def _likely(report: Report, min_probability: float) -> Report:
    """Without those that are probably right, or one odd number in a hundred would end every run
    with a failure."""
    left = [likely(proof, min_probability) for proof in report.documents]
    less_likely = len(report) - sum(map(len, left))
    return replace(
        report,
        documents=left,
        less_likely=less_likely,
        min_probability=min_probability,
    )


def _show(report: Report, wanted: CheckOptions) -> None:
    if wanted.format == "terminal":
        no_color = None if wanted.colour is None else not wanted.colour
        console = plain_console(force_terminal=wanted.colour, no_color=no_color)
        print_report(report, console, verbose=wanted.verbose)
    else:
        write = {"json": as_json, "csv": as_csv, "sarif": as_sarif, "html": as_html}
        print(write[wanted.format](report))
        for line in report.failures:
            warn(line)
        for line in report.misfits:
            say(line)
    if wanted.format == "csv":  # the only one without a place for it
        say(coverage_in_words(report.coverage))
        say(str(report.tested))
    for line in report.unneeded:
        say(line)
    for document in report.without_numerals:
        say(f"{document.name}: no number in it, though it has text; was it read as what it is?")


def _fix(report: Report) -> int:
    """Ask about every suggestion; how many findings are mended."""
    mended = 0
    for proof in report.documents:
        suggested = sum(finding.suggestion is not None for finding in proof)
        if by_hand := suggested - len(fixing.fixes(proof)):
            say(f"{proof.document.name}: {by_hand} of {suggested} suggestions are for you to write")
        choice = fixing.choose(proof, fixing.ask_on_terminal)
        if choice.fixes:
            fixing.apply(proof, choice.fixes)
            say(f"{proof.document.name}: {len(choice.fixes)} changed")
            mended += len(choice.fixes)
        if choice.left:
            say(
                f"{proof.document.name}: {len(choice.left)} not offered: they rest on what is "
                "changed, or something else would be wrong then; check again"
            )
        if not choice.goes_on:
            break
    return mended
