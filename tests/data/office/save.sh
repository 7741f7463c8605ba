#!/usr/bin/env bash
# Saves what is written by hand for LibreOffice in the formats of Office.
set -euo pipefail
cd "$(dirname "$0")"

for kind in docx odt rtf; do soffice --headless --convert-to "$kind" revised.fodt; done
soffice --headless --convert-to xlsx dogs.fods
