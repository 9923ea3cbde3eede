// Package httpserver runs HTTP servers as services: bounded in time and size, and stopped only
// when what is in flight has been answered.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/netutil"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
	"lodestone/pkg/service"
)

// Limits of every server. A handler that needs longer, for a large file, moves the deadlines of
// its own request with http.ResponseController.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	// longer than usual proxies keep theirs (60 s), so that they are the ones to close
	idleTimeout    = 75 * time.Second
	maxHeaderBytes = 32 << 10
	maxStreams     = 64   // requests at a time over one connection of HTTP/2
	maxConnections = 4096 // further ones wait
	// Drain is how long a stop waits for requests in flight, if its context allows as much;
	// after that their connections are closed.
	Drain = 20 * time.Second
)

// Server is an HTTP server as a service.
type Server struct {
	config  Config
	handler http.Handler
	log     *slog.Logger
	metrics prometheus.Registerer

	leaving  atomic.Bool // connections end with their next answer
	listener net.Listener
	secure   *certificate.Listener // nil: plain HTTP
	server   *http.Server
	failed   chan error
}

var _ service.Service = (*Server)(nil)

// Config says where a server listens.
type Config struct {
	Name    string // for logs and errors
	Setting string // the flag that the address came from, for errors
	Address string // host:port; port 0 is any that is free

	TLS certificate.Server // none: plain HTTP
	// OptionalClients lets clients without a certificate send requests; the handler sees whether there
	// was one.
	OptionalClients bool
}

// Deps are the dependencies of a server; Handler and Log are required.
type Deps struct {
	Handler    http.Handler
	Log        *slog.Logger
	Registerer prometheus.Registerer // of the metrics of the certificate; nil: none
}

// New returns a server that is not started.
func New(c Config, d Deps) *Server {
	return &Server{config: c, handler: d.Handler, log: d.Log, metrics: d.Registerer, failed: make(chan error, 1)}
}

// Listen takes the address without serving yet, so that Addr is known. Start does it if need be.
func (s *Server) Listen(ctx context.Context) error {
	if s.listener != nil {
		return nil
	}
	secure, err := s.config.TLS.Open(certificate.Deps{
		Name: s.config.Name, Log: s.log, Registerer: s.metrics, Optional: s.config.OptionalClients,
		Protocols: []string{"h2", "http/1.1"},
	})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.config.Address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return config.Invalid(s.config.Setting, "is "+s.config.Address+", which another process uses",
			"stop that process or give another address")
	}
	if err != nil {
		return fmt.Errorf("listen for %s: %w", s.config.Name, err)
	}
	s.listener, s.secure = listener, secure
	s.log.Info("listening", "server", s.config.Name, "address", listener.Addr().String(), "tls", secure != nil)
	return nil
}

// Addr returns the address listened on, after Listen or Start.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Start implements service.Service. The server accepts connections when it returns.
func (s *Server) Start(ctx context.Context) error {
	if s.server != nil {
		return fmt.Errorf("start %s: already started", s.config.Name)
	}
	if err := s.Listen(ctx); err != nil {
		return err
	}
	s.server = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// OPTIONS * is the handler's, as every other request.
		DisableGeneralOptionsHandler: true,
		// What net/http has to say is about connections of strangers: broken handshakes and
		// the like. It tells nothing that the access log does not.
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	serve := s.server.Serve
	if s.secure != nil {
		s.server.TLSConfig = s.secure.TLS()
		s.server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
		serve = func(l net.Listener) error { return s.server.ServeTLS(l, "", "") }
	}
	go func() {
		if err := serve(netutil.LimitListener(s.listener, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve %s: %w", s.config.Name, err)
		}
	}()
	return nil
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	// A server before this one may have seen a request with a coding end elsewhere, by a length beside
	// it, which net/http ignores: what follows must not count as the next request.
	if s.leaving.Load() || len(r.TransferEncoding) > 0 {
		w.Header().Set("Connection", "close")
	}
	s.handler.ServeHTTP(w, r)
}

// Leave ends each connection with its next answer, so that clients and proxies that keep
// connections go to another process. New connections are served, with one request each. It is safe
// for concurrent use.
func (s *Server) Leave() { s.leaving.Store(true) }

// Stop implements service.Service: it takes no new requests, waits for those in flight for Drain
// or until ctx ends, and then closes their connections.
func (s *Server) Stop(ctx context.Context) error {
	if s.server == nil {
		if s.listener != nil {
			_ = s.listener.Close() // no one was served yet
		}
		return nil
	}
	drain, cancel := context.WithTimeout(ctx, Drain)
	defer cancel()
	err := s.server.Shutdown(drain)
	if err == nil {
		return nil
	}
	if closeErr := s.server.Close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	}
	return fmt.Errorf("stop %s: requests were cut off: %w", s.config.Name, err)
}

// Failed implements service.Service.
func (s *Server) Failed() <-chan error { return s.failed }
