package dashboard

import (
	"net/url"
	"slices"
	"strconv"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/magnet"
)

// maxPictures is the number of pages up to which a curve has their pictures: in a longer document,
// a page is too narrow to point at.
const maxPictures = 60

// pagePicture is the picture of a page, which is shown while one points at the page on the curve,
// or moves there by keys.
type pagePicture struct {
	URL, Words string
	Right      bool // it opens to the left
}

// pictures are those of the version that the curve is of, if its file is still stored.
func (m *magnetReports) pictures(v *frame.Visit, self string) (list []pagePicture) {
	number := m.pages.number()
	stored := slices.ContainsFunc(m.versions,
		func(one magnet.Version) bool { return int(one.Version) == number && one.Stored })
	if !stored || len(m.pages.Data) > maxPictures {
		return nil
	}
	for i, r := range m.pages.Data {
		list = append(list, pagePicture{
			URL:   v.Path(self+"/pages/"+strconv.Itoa(r.Page)) + "?version=" + strconv.Itoa(number),
			Words: v.Say("live.page", "page", r.Page), Right: i >= len(m.pages.Data)/2,
		})
	}
	return list
}

// pagePicture passes the picture of a page on. Pictures of a version never change, so a browser may
// keep them for a while.
func (d *Dashboard) pagePicture(v *frame.Visit) error {
	query := url.Values{}
	if version := v.R.URL.Query().Get("version"); version != "" {
		query.Set("magnet_version", version)
	}
	return v.PassKept(magnetPath(v)+"/pages/"+url.PathEscape(v.R.PathValue("page"))+"/picture", query)
}
