#!/usr/bin/env bash
# Saves report.md in every format, each by a program that people use: pandoc, LibreOffice, Chromium.
set -euo pipefail
cd "$(dirname "$0")"

read_report=(pandoc --from gfm+footnotes --lua-filter tables.lua report.md)

"${read_report[@]}" --standalone --metadata pagetitle=Report --output report.html
