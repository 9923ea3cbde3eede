package pdf

import (
	"fmt"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"
)

// openForm prepares the fields of a form to be drawn, if the open file has some. PDFium draws them
// apart from the page, and only for a program that could let a person fill them in: the callbacks
// that it wants for that do nothing.
func (e *engine) openForm() error {
	kind, err := e.pdfium.FPDF_GetFormType(&requests.FPDF_GetFormType{Document: e.document})
	if err != nil {
		return fmt.Errorf("look for a form: %w", err)
	}
	if kind.FormType == enums.FPDF_FORMTYPE_NONE {
		return nil
	}
	form, err := e.pdfium.FPDFDOC_InitFormFillEnvironment(&requests.FPDFDOC_InitFormFillEnvironment{
		Document: e.document,
		FormFillInfo: structs.FPDF_FORMFILLINFO{
			FFI_Invalidate:         func(references.FPDF_PAGE, float64, float64, float64, float64) {},
			FFI_SetCursor:          func(enums.FXCT) {},
			FFI_SetTimer:           func(int, func(int)) int { return 0 },
			FFI_KillTimer:          func(int) {},
			FFI_GetLocalTime:       func() structs.FPDF_SYSTEMTIME { return structs.FPDF_SYSTEMTIME{} },
			FFI_GetPage:            func(references.FPDF_DOCUMENT, int) *references.FPDF_PAGE { return nil },
			FFI_GetRotation:        func(references.FPDF_PAGE) enums.FPDF_PAGE_ROTATION { return 0 },
			FFI_ExecuteNamedAction: func(string) {},
		},
	})
	if err != nil {
		return fmt.Errorf("open the form: %w", err)
	}
	e.form = form.FormHandle
	return nil
}

// drawForm draws the fields of a form on a page that is in the bitmap already.
func (e *engine) drawForm(bitmap references.FPDF_BITMAP, page requests.Page, width, height int) error {
	if e.form == "" {
		return nil
	}
	_, err := e.pdfium.FPDF_FFLDraw(&requests.FPDF_FFLDraw{
		FormHandle: e.form, Bitmap: bitmap, Page: page, SizeX: width, SizeY: height, Flags: renderFlags,
	})
	if err != nil {
		return fmt.Errorf("draw the form: %w", err)
	}
	return nil
}
