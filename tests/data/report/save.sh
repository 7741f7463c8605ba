#!/usr/bin/env bash
# Saves report.md in every format, each by a program that people use: pandoc, LibreOffice, Chromium.
set -euo pipefail
cd "$(dirname "$0")"

read_report=(pandoc --from gfm+footnotes --lua-filter tables.lua report.md)

"${read_report[@]}" --standalone --metadata pagetitle=Report --output report.html
soffice --headless --convert-to docx:"MS Word 2007 XML" report.html && mv report.docx report-libreoffice.docx
"${read_report[@]}" --output report.docx
"${read_report[@]}" --output pandoc.odt  # it loses the second row of a header
"${read_report[@]}" --standalone --output report.rtf
for kind in odt rtf; do soffice --headless --convert-to "$kind" --outdir saved report.docx; mv "saved/report.$kind" "report-libreoffice.$kind"; done; rmdir saved
"${read_report[@]}" --standalone --output report.tex
soffice --headless --convert-to xlsx --infilter="HTML (StarCalc)" report.html

print_pdf() { chromium --headless --no-sandbox --no-pdf-header-footer --print-to-pdf="$2" "$1"; }
print_pdf report.html report-chromium.pdf
"${read_report[@]}" --standalone --metadata pagetitle=Report --css columns.css --output columns.html
print_pdf columns.html report-columns.pdf && rm columns.html
soffice --headless --convert-to pdf report.docx && mv report.pdf report-libreoffice.pdf
echo "Of 120 people, 30 (25%) came." > locked.txt  # to be opened with a password; to be read, not printed
for what in DocumentOpen:locked Permission:restricted; do
  soffice --headless --convert-to 'pdf:writer_pdf_Export:{"EncryptFile":{"type":"boolean","value":"true"},"RestrictPermissions":{"type":"boolean","value":"true"},"'"${what%:*}"'Password":{"type":"string","value":"secret"}}' locked.txt
  mv locked.pdf "${what#*:}-copy.pdf"
done
mv locked-copy.pdf locked.pdf; mv restricted-copy.pdf restricted.pdf; rm locked.txt
echo '<meta charset="utf-8"><p dir="rtl">מתוך 120 אנשים, 30 (25%) באו.</p>' > rtl.html
print_pdf rtl.html right-to-left.pdf && rm rtl.html
"${read_report[@]}" --standalone --metadata title="Evening walks" --to markdown --output report.qmd
"${read_report[@]}" --standalone --to ipynb --output report.ipynb
