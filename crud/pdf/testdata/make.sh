#!/bin/sh
# Makes the PDFs of this folder again, into the current directory. Needs Debian's packages chromium,
# ghostscript, librsvg2-bin (cairo), mupdf-tools, poppler-utils, python3-reportlab, qpdf, texlive-base
# and weasyprint. The files here were made with those of Debian 12. Each has three pages, but for
# mutool.pdf (two), poppler-pdfunite.pdf (six) and the incremental ones (four).
set -eu

cat > page.ps <<'EOF'
%!PS
/Helvetica findfont 24 scalefont setfont
1 1 3 { 72 700 moveto (Page ) show 10 string cvs show showpage } for
EOF
cat > page.html <<'EOF'
<!doctype html><html lang=en><title>Guide</title><style>h1{break-before:page} h1:first-child{break-before:auto}</style><h1>Page 1</h1><p>Text <a href="https://example.com/">link</a><h1>Page 2</h1><p>Text<h1>Page 3</h1>
EOF
cat > page.svg <<'EOF'
<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><circle cx="100" cy="100" r="50" fill="teal"/></svg>
EOF
cat > pdftex.tex <<'EOF'
\pdfcompresslevel=9 \pdfobjcompresslevel=2
Page 1\vfill\eject Page 2\vfill\eject Page 3\bye
EOF
for n in 1 2; do
	printf '%%%%MediaBox 0 0 500 800\n%%%%Font F Helvetica\nBT /F 24 Tf 72 700 Td (Page %s) Tj ET\n' "$n" > "page$n.txt"
done

chromium --headless --no-sandbox --disable-gpu --user-data-dir="$(mktemp -d)" --no-pdf-header-footer \
	--print-to-pdf=chromium.pdf "file://$PWD/page.html"
weasyprint page.html weasyprint.pdf
pdftex -interaction=batchmode pdftex.tex
rsvg-convert -f pdf -o cairo.pdf page.svg page.svg page.svg
mutool create -o mutool.pdf page1.txt page2.txt
/usr/bin/python3 - <<'EOF'
from reportlab.pdfgen import canvas
file = canvas.Canvas("reportlab.pdf", invariant=1)
for n in (1, 2, 3):
    file.drawString(72, 700, "Page %d" % n)
    file.showPage()
file.save()
EOF
gs -q -dNOPAUSE -dBATCH -sDEVICE=pdfwrite -dCompatibilityLevel=1.4 -sOutputFile=ghostscript.pdf page.ps
pdfunite ghostscript.pdf reportlab.pdf poppler-pdfunite.pdf # its trailer claims fewer objects than there are

qpdf --object-streams=disable ghostscript.pdf qpdf-classic.pdf
qpdf --object-streams=generate ghostscript.pdf qpdf-object-streams.pdf
qpdf --linearize ghostscript.pdf qpdf-linearised.pdf
qpdf --linearize --object-streams=generate ghostscript.pdf qpdf-linearised-object-streams.pdf
qpdf --force-version=2.0 --object-streams=generate ghostscript.pdf qpdf-2.0.pdf

for kind in classic object-streams; do
	cat > update.js <<EOF
var file = new PDFDocument("qpdf-$kind.pdf")
file.insertPage(-1, file.addPage([0, 0, 300, 300], 0, null, ""))
file.save("mutool-incremental-$kind.pdf", "incremental")
EOF
	mutool run update.js
done
mv mutool-incremental-classic.pdf mutool-incremental.pdf

# Anyone may open the encrypted ones; the owner's password is for changing them. The locked ones need a password.
qpdf --allow-weak-crypto --encrypt "" owner 40 -- ghostscript.pdf encrypted-rc4-40.pdf
qpdf --allow-weak-crypto --encrypt "" owner 128 --use-aes=n -- ghostscript.pdf encrypted-rc4-128.pdf
qpdf --allow-weak-crypto --encrypt "" owner 128 --force-V4 -- ghostscript.pdf encrypted-rc4-v4.pdf
qpdf --allow-weak-crypto --encrypt "" owner 128 --use-aes=y -- ghostscript.pdf encrypted-aes-128.pdf
qpdf --allow-weak-crypto --encrypt "" owner 128 --use-aes=y -- --object-streams=generate ghostscript.pdf encrypted-aes-128-object-streams.pdf
qpdf --encrypt "" owner 256 -- ghostscript.pdf encrypted-aes-256.pdf
qpdf --encrypt "" owner 256 --cleartext-metadata -- --object-streams=generate ghostscript.pdf encrypted-aes-256-object-streams.pdf
qpdf --allow-weak-crypto --encrypt user owner 128 --use-aes=n -- ghostscript.pdf locked-rc4-128.pdf
qpdf --encrypt user owner 256 -- ghostscript.pdf locked-aes-256.pdf

rm page.ps page.html page.svg page1.txt page2.txt pdftex.tex pdftex.log update.js
