package email

import (
	"regexp"
	"strings"
)

// Company returns the domain of an address in lower case, or "" if a provider of free mailboxes has
// it: those tell nothing of where someone works. It looks nothing up.
func Company(address string) string {
	domain := strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
	name, under, _ := strings.Cut(domain, ".")
	if freeDomains[domain] || freeNames[name] && everywhere.MatchString(under) {
		return ""
	}
	return domain
}

// freeNames are providers that have their name under many top-level domains: those of everywhere.
var freeNames = setOf(`gmail googlemail yahoo ymail rocketmail hotmail outlook live msn aol icloud gmx yandex protonmail
	zohomail tutanota fastmail`)

var everywhere = regexp.MustCompile(`^(?:com|net|org|[a-z]{2}|com?\.[a-z]{2})$`)

// freeDomains are all others.
var freeDomains = setOf(`me.com mac.com proton.me pm.me web.de t-online.de freenet.de arcor.de email.de mail.de posteo.de
	posteo.net mailbox.org mail.com email.com usa.com mail.ru bk.ru inbox.ru list.ru rambler.ru ukr.net hey.com duck.com zoho.com
	tuta.com tuta.io hushmail.com passmail.net orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr bbox.fr libero.it
	virgilio.it tiscali.it alice.it tin.it telefonica.net terra.es ono.com sapo.pt wp.pl o2.pl onet.pl op.pl interia.pl
	gazeta.pl seznam.cz centrum.cz email.cz azet.sk freemail.hu citromail.hu abv.bg bluewin.ch hispeed.ch aon.at chello.at
	telenet.be skynet.be ziggo.nl kpnmail.nl hetnet.nl planet.nl home.nl xs4all.nl telia.com btinternet.com
	blueyonder.co.uk ntlworld.com sky.com talktalk.net virginmedia.com comcast.net verizon.net att.net sbcglobal.net
	bellsouth.net cox.net charter.net earthlink.net optonline.net juno.com netzero.net roadrunner.com shaw.ca rogers.com
	sympatico.ca bigpond.com optusnet.com.au xtra.co.nz rediffmail.com qq.com foxmail.com 163.com 126.com yeah.net
	sina.com sohu.com naver.com hanmail.net daum.net nate.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp uol.com.br
	bol.com.br terra.com.br ig.com.br`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
