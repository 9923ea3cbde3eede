package pdf

import (
	"unicode"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/requests"
)

// maxObjects is how many objects of a page are looked at for their fonts.
const maxObjects = 2_000

// lacksFonts reports whether a page has text that PDFium cannot draw here: in letters that are not
// Latin, Greek or Cyrillic, of a font that the file only names. PDFium has fonts of its own for
// those three and reads none of the system's, so it leaves such text out. Browsers do have fonts
// for it, and a page without its text is no picture of what they show. A page whose objects cannot
// be read lacks none.
func (e *engine) lacksFonts(page requests.Page) bool {
	count, err := e.pdfium.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return false
	}
	text, err := e.pdfium.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return false
	}
	for i := range min(count.Count, maxObjects) {
		object, err := e.pdfium.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return false
		}
		kind, err := e.pdfium.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil || kind.Type != enums.FPDF_PAGEOBJ_TEXT {
			continue
		}
		font, err := e.pdfium.FPDFTextObj_GetFont(&requests.FPDFTextObj_GetFont{PageObject: object.PageObject})
		if err != nil {
			continue
		}
		embedded, err := e.pdfium.FPDFFont_GetIsEmbedded(&requests.FPDFFont_GetIsEmbedded{Font: font.Font})
		if err != nil || embedded.IsEmbedded {
			continue
		}
		words, err := e.pdfium.FPDFTextObj_GetText(&requests.FPDFTextObj_GetText{PageObject: object.PageObject,
			TextPage: text.TextPage})
		if err == nil && needsFont(words.Text) {
			return true
		}
	}
	return false
}

func needsFont(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common) {
			return true
		}
	}
	return false
}
