#!/usr/bin/env bash
# Saves report.md in every format, each by a program that people use: pandoc, LibreOffice, Chromium.
set -euo pipefail
cd "$(dirname "$0")"

read_report=(pandoc --from gfm+footnotes --lua-filter tables.lua report.md)

"${read_report[@]}" --standalone --metadata pagetitle=Report --output report.html
soffice --headless --convert-to docx:"MS Word 2007 XML" report.html && mv report.docx report-libreoffice.docx
"${read_report[@]}" --output report.docx
"${read_report[@]}" --standalone --output report.tex
soffice --headless --convert-to xlsx --infilter="HTML (StarCalc)" report.html
