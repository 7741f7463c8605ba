"""One small document with the same error in every format, as tests of all formats need it."""

import json
from pathlib import Path

from tests.documents.office import DATA, paragraph, word
from tests.documents.open_document import fodt, odt, p
from tests.documents.written_pdf import Page, pdf

CLAIM = "Of 80 people, 20 (35%) walked."
NAMESPACE = "http://dlmf.nist.gov/LaTeXML"
HTML = f"<!doctype html>\n<html><head><title>Walks</title></head><body><p>{CLAIM}</p></body></html>"

SAMPLES: dict[str, tuple[str, bytes]] = {  # by file name: the format, and what is in it
    "a.txt": ("text", CLAIM.encode()),
    "a.md": ("markdown", CLAIM.encode()),
    "a.jsonl": ("jsonl", json.dumps({"text": CLAIM}).encode()),
    "a.xml": ("jats", f"<article><body><p>{CLAIM}</p></body></article>".encode()),
    "set.xml": (
        "jats",
        '<?xml version="1.0"?><!-- <html> -->\n<!DOCTYPE pmc-articleset [<!ELEMENT a ANY>]>'
        f"<pmc-articleset><article><body><p>{CLAIM}</p></body></article></pmc-articleset>".encode(),
    ),
    "a.html": ("page", HTML.encode()),
    "utf-16.html": ("page", HTML.encode("utf-16")),
    "fragment.htm": ("page", f"<h1>Walks</h1><p>{CLAIM}".encode()),
    "bare.html": ("page", CLAIM.encode()),
    "about-latexml.html": (
        "page",
        HTML.replace("walked", "use LaTeXML, whose &lt;p class=ltx_p&gt; is plain").encode(),
    ),
    "a.xhtml": (
        "page",
        '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<body><p>{CLAIM}</p></body></html>".encode(),
    ),
    "latexml.xml": (
        "latexml",
        f'<?xml version="1.0"?><document xmlns="{NAMESPACE}"><para><p>{CLAIM}</p></para>'
        "</document>".encode(),
    ),
    "prefixed.xml": (
        "latexml",
        f'<x:document xmlns:x="{NAMESPACE}"><x:para><x:p>{CLAIM}</x:p></x:para>'
        "</x:document>".encode(),
    ),
    "latexml.html": (
        "latexml",
        HTML.replace("<p>", '<div class="wide ltx_para"><p class=ltx_p>').encode(),
    ),
    "a.tex": (
        "latex",
        f"\\documentclass{{article}}\\begin{{document}}{CLAIM}\\end{{document}}".replace(
            "%", "\\%"
        ).encode(),
    ),
    "a.ipynb": (
        "notebook",
        json.dumps({"cells": [{"cell_type": "markdown", "source": [CLAIM]}]}).encode(),
    ),
    "a.docx": ("docx", word(paragraph(CLAIM))),
    "a.odt": ("odt", odt(p(CLAIM))),
    "a.fodt": ("odt", fodt(p(CLAIM))),
    "a.rtf": ("rtf", rf"{{\rtf1\ansi {CLAIM}\par}}".encode()),
    "a.xlsx": ("xlsx", (DATA / "report/report.xlsx").read_bytes()),
    "a.pdf": ("pdf", pdf([Page().text(60, 700, CLAIM)])),
}


def write_samples(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, (_, data) in SAMPLES.items():
        (folder / name).write_bytes(data)
