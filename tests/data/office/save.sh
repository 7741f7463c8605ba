#!/usr/bin/env bash
# Saves what is written by hand for LibreOffice in the formats of Office.
set -euo pipefail
cd "$(dirname "$0")"

soffice --headless --convert-to docx revised.fodt
soffice --headless --convert-to xlsx dogs.fods
