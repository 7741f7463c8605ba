"""`numerate check`: read, proofread, leave out what is known, report, mend what is asked for."""

from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path

from numerate.config import Configuration, find_configuration
from numerate.documents import STANDARD_INPUT
from numerate.documents.document import Document, Table
from numerate.documents.table_file import read_table_file
from numerate.documents.taken_in import taken_in
from numerate.errors import BROKEN, FAILED, WRONG_USE, FailureError, NumerateError
from numerate.places import is_remote, local_path, place_of
from numerate.proofread import fixing
from numerate.proofread.baseline import read_baseline, without_known, write_baseline
from numerate.proofread.formats.html_report import as_html
from numerate.proofread.formats.printed_report import as_csv, as_json, print_report
from numerate.proofread.formats.sarif import as_sarif
from numerate.proofread.inputs import Input, all_inputs, read_document
from numerate.proofread.models import Opening, models_asked
from numerate.proofread.options import CheckOptions, check_options
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import Report, coverage_in_words
from numerate.proofread.session import Session
from numerate.reports.notices import plain_console, say, warn
from numerate.reports.progress import PassProgress


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Documents with the configuration of each, and the errors of those that cannot be read."""

    documents: list[Document] = field(default_factory=list)
    projects: list[Configuration] = field(default_factory=list)
    tables: list[Document] = field(default_factory=list)  # files that --table names
    errors: list[NumerateError] = field(default_factory=list)
    missing: list[Input] = field(default_factory=list)  # documents
    missing_tables: list[Path] = field(default_factory=list)

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the errors as lines, each once."""
        return tuple(dict.fromkeys(map(str, self.errors)))

    @property
    def status(self) -> int:
        """Return the exit status of the errors: wrong use, unless reading failed every time."""
        failed = all(isinstance(error, FailureError) for error in self.errors)
        return FAILED if failed else WRONG_USE

    @property
    def lacks_named(self) -> bool:
        """Tell whether a file that you named cannot be read, rather than one found in a folder."""
        return bool(self.missing_tables) or not all(one.in_folder for one in self.missing)


def check_files(files: list[str], options: CheckOptions, open_model: Opening) -> int:
    """Print the findings, then what cannot be read, and return the exit status.

    The status is 2 if a file that you named cannot be read, whatever is found in the others (1 if
    the web or a bucket failed); 1 if there is a finding, or a document that a model does not fit;
    70 if a rule has failed.
    """
    check_options(options, files)
    session = Session(options)
    _ = session.codes  # refuses codes that do not exist before anything is read
    inputs = _read(files, options)
    documents, projects = inputs.documents, inputs.projects
    if inputs.errors and not documents and not inputs.tables:  # no report looks like an all-clear
        return _end(inputs, inputs.status)
    given = [table for file in inputs.tables for table in file.tables]
    if documents and session.needs_models:
        session = replace(session, models=models_asked(options, open_model, documents, given))
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
    report = replace(_proofread(in_view, projects, session), unread=inputs.lines)
    if options.write_baseline:
        return _end(inputs, _write_baseline(report, options, inputs))
    if options.baseline is not None:
        left = without_known(report.documents, read_baseline(options.baseline))
        before, after = (sum(one.hidden for one in some) for some in (report.documents, left))
        report = replace(report, documents=left, known=after - before)
    _show(report, options)
    for line in inputs.lines:
        warn(line)
    mended = _fix(report) if options.fix else 0
    if report.failures:
        return BROKEN
    if inputs.lacks_named:
        return inputs.status
    if len(report) > mended or report.misfits:
        return FAILED
    return inputs.status if inputs.errors else 0


def _end(inputs: _Inputs, status: int) -> int:
    for line in inputs.lines:
        warn(line)
    return status


def _write_baseline(report: Report, options: CheckOptions, inputs: _Inputs) -> int:
    """Write it without losing what cannot be seen now: known findings of files that cannot be
    read stay known, and all known findings where a table is missing that shows some of them."""
    assert options.baseline is not None
    failed = {failure.code for proof in report.documents for failure in proof.failures}
    sought = frozenset().union(*(proof.looked_for for proof in report.documents))
    looked_for = frozenset() if inputs.missing_tables else sought - failed
    say(f"{options.baseline}: {write_baseline(options.baseline, report.documents, looked_for)}")
    for line in report.failures:
        warn(line)
    if report.failures:
        return BROKEN
    return inputs.status if inputs.errors else 0


def _read(files: list[str], options: CheckOptions) -> _Inputs:
    """Read all that can be read; what cannot be costs nothing else."""
    inputs = _Inputs()
    documents, projects = list[Document](), list[Configuration]()
    in_folder = set[str]()
    for one in all_inputs(files, options.input_format):
        if one.in_folder:
            in_folder.add(one.name)
        try:
            project = configuration_for(one.name)
            if project.leaves_out(one.name):
                say(f"{one.name}: not checked, as {project.path} says")
                continue
            if one.error is not None:
                raise one.error
            read = read_document(one.name, options.input_format, options.field)
        except NumerateError as error:
            inputs.missing.append(one)
            inputs.errors.append(error)
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
    for file in dict.fromkeys(options.tables):
        try:
            inputs.tables.append(_read_table(file))
        except NumerateError as error:
            inputs.missing_tables.append(file)
            inputs.errors.append(error)
    return inputs


def _read_table(file: Path) -> Document:
    elsewhere = place_of(file)
    return read_table_file(elsewhere, file.read_bytes()) if elsewhere else read_table_file(file)


def _without(tables: list[Table], document: Document) -> list[Table]:
    """Return the tables that are not the document's own."""
    return [one for one in tables if one.file is None or _path(one.file) != _path(document)]


def _path(document: Document) -> Path:
    return Path(document.name).resolve()


def configuration_for(file: str) -> Configuration:
    """Find the configuration nearest to a document; for standard input and addresses, to the
    working folder."""
    if file == STANDARD_INPUT or is_remote(file):
        return find_configuration(Path())
    path = local_path(file)
    return find_configuration(path if path.is_dir() else path.parent)


def _proofread(
    in_view: list[tuple[Document, list[Table]]], projects: list[Configuration], session: Session
) -> Report:
    """Check each document with the tables beside it, as its project wants it."""
    found: list[ProofreadDocument] = []
    whole = sum(len(document.paragraphs) for document, _ in in_view)
    before = 0  # paragraphs that have been read
    names: dict[str, None] = {}
    with PassProgress() as progress:
        for (document, tables), project in zip(in_view, projects, strict=True):

            def told(done: int, before: int = before) -> None:
                count = len(session.models.models)
                progress("checking", count * before + done, count * whole)

            own = replace(session, project=project)
            proof = own.check(document, tables, beside=False, progress=told if whole else None)
            before += len(document.paragraphs)
            if proof.models and not names and session.models.is_implied:
                say(f"with the model {proof.models[0]}; --model none recomputes alone")
            names |= dict.fromkeys(proof.models)
            found.append(proof)
    if ignored := sum(proof.ignored for proof in found):
        say(f"{ignored} found but ignored, as the configuration says")
    read = sum(proof.numerals for proof in found if proof.models)
    alarms = session.alarms if names else None
    least = session.options.min_probability
    return Report(found, tuple(names), read, alarms, min_probability=least)


def _show(report: Report, options: CheckOptions) -> None:
    if options.format == "terminal":
        no_color = None if options.colour is None else not options.colour
        console = plain_console(force_terminal=options.colour, no_color=no_color)
        print_report(report, console, verbose=options.verbose)
    else:
        write = {"json": as_json, "csv": as_csv, "sarif": as_sarif, "html": as_html}
        print(write[options.format](report))
        for line in report.failures:
            warn(line)
        for line in report.misfits:
            say(line)
    if options.format == "csv":  # the only one without a place for it
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
