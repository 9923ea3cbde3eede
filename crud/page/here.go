package page

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Here passes on the requests of browsers on this machine that mean this machine. The rest finds nothing: what is
// behind it, such as the mails of an installation that is tried out, is nobody else's. A page elsewhere whose
// host's name was made to lead here (DNS rebinding) asks for that name; what comes through a proxy or a tunnel
// says so, or asks for a public name.
func (s *Site) Here(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if local == nil || !isLoopback(local.String()) || !isLoopback(r.RemoteAddr) || !isLoopback(r.Host) || forwarded(r.Header) {
			s.WriteError(w, r, Show(NotFound, Brand{}))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a host, with or without a port, is this machine by its address or as localhost.
func isLoopback(hostPort string) bool {
	host := hostPort
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func forwarded(h http.Header) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}
