package collector

// Names of headers as the server keeps them, and values that never change. Asking in this form saves it spelling
// a name again for each of the dozen that every request is asked for.
var (
	headerSecPurpose   = []byte("Sec-Purpose")
	headerPurpose      = []byte("Purpose")
	headerXPurpose     = []byte("X-Purpose")
	headerXMoz         = []byte("X-Moz")
	headerSecGPC       = []byte("Sec-Gpc")
	headerDNT          = []byte("Dnt")
	headerForwardedKey = []byte("Forwarded")
	keyRequestID       = []byte(headerRequestID)
	keyAllowOrigin     = []byte("Access-Control-Allow-Origin")
	keyExposeHeaders   = []byte("Access-Control-Expose-Headers")
	valueAnyOrigin     = []byte("*")
	valueExposed       = []byte(exposedHeaders)
)

const requestIDBytes = 32
