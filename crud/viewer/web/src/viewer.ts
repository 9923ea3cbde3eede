import("pdfjs-dist").then((pdf) => console.log(pdf.version), () => undefined);
