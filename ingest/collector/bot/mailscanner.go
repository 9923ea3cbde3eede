package bot

import "bytes"

// maxScanned bounds the part of a user agent that is looked at; it is what is kept of one.
const maxScanned = 512

// mailScanners are words in the user agents of programs that open what is in a mail before, or in
// the place of, its reader. Facts:
//
//   - GoogleImageProxy: Gmail's, "… Firefox/11.0 (via ggpht.com GoogleImageProxy)".
//   - YahooMailProxy: Yahoo's; it names its own page, help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html.
//   - Barracuda Sentinel (EE): in the lists of mailing services (Braze's documentation on bot
//     clicks) and of Matomo's device detector; campus.barracuda.com, "Unwanted link clicks", says that
//     it clicks.
//   - Microsoft Office Existence Discovery: Office asks whether a link leads anywhere, by HEAD.
//   - Proofpoint, Mimecast, Cisco Secure Email: seen with their names now and then by those who send mail.
//
// Most scanners, among them Outlook's Safe Links, come as a common browser and cannot be told by
// any header. No person's browser has one of these words.
var mailScanners = [...]struct {
	word []byte // in lower case
	rule string
}{
	{[]byte("googleimageproxy"), "mail-scanner:GoogleImageProxy"},
	{[]byte("yahoomailproxy"), "mail-scanner:YahooMailProxy"},
	{[]byte("barracuda"), "mail-scanner:Barracuda"},
	{[]byte("microsoft office existence discovery"), "mail-scanner:Microsoft Office"},
	{[]byte("proofpoint"), "mail-scanner:Proofpoint"},
	{[]byte("mimecast"), "mail-scanner:Mimecast"},
	{[]byte("ciscosecureemail"), "mail-scanner:Cisco Secure Email"},
}

func mailScanner(agent []byte) string {
	var lower [maxScanned]byte
	n := copy(lower[:], agent)
	for i, c := range lower[:n] {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	for i := range mailScanners {
		if bytes.Contains(lower[:n], mailScanners[i].word) {
			return mailScanners[i].rule
		}
	}
	return ""
}
