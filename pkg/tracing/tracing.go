// Package tracing sends traces of requests to an OpenTelemetry collector: through the handler and
// its queries, or from the event's request through Kafka to the insert. Spans have routes, statuses
// and sizes. They have no path, address, user agent or text of a request: these hold secrets and
// data of people.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracer begins the traces of a process and sends them. It is a service.Service, and safe for
// concurrent use. A nil Tracer begins none.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	internal bool
	log      *slog.Logger
}

const name = "lodestone" // of what makes the spans

// Deps are the dependencies of a Tracer.
type Deps struct {
	Service string // the process' name in traces
	// Internal is for a process whose requests come from other processes of the installation: their
	// header is the parent of its spans.
	Internal bool
	Log      *slog.Logger
}

// New returns a Tracer, or nil if the settings name no collector. It does not connect: spans that
// cannot be sent are dropped, which is logged.
func New(c Config, d Deps) (*Tracer, error) {
	if c.Endpoint == "" {
		return nil, nil
	}
	target, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("parse --trace-endpoint: %w", err)
	}
	options := []otlptracehttp.Option{otlptracehttp.WithEndpointURL(target.JoinPath("v1/traces").String()),
		otlptracehttp.WithTimeout(exportTimeout)}
	if c.Headers != "" {
		headers, err := withVariables(c.Headers)
		if err != nil {
			return nil, err
		}
		options = append(options, otlptracehttp.WithHeaders(headers))
	}
	exporter, err := otlptracehttp.New(context.Background(), options...)
	if err != nil {
		return nil, fmt.Errorf("make exporter of traces: %w", err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(&loggingExporter{exporter, d.Log}),
		sdk.WithSampler(sdk.ParentBased(requests{sdk.TraceIDRatioBased(c.Share)})),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", d.Service))),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer(name), internal: d.Internal, log: d.Log}, nil
}

// exportTimeout bounds one try to send spans.
const exportTimeout = 10 * time.Second

// requests samples requests only: what a process does by itself begins no trace.
type requests struct{ sdk.Sampler }

// ShouldSample implements sdk.Sampler.
func (r requests) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if p.Kind != trace.SpanKindServer {
		return sdk.NeverSample().ShouldSample(p)
	}
	return r.Sampler.ShouldSample(p)
}

// Start implements service.Service.
func (t *Tracer) Start(context.Context) error { return nil }

// Stop sends what waits. What cannot be sent until ctx ends is dropped.
func (t *Tracer) Stop(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("the last traces could not be sent", "error", err)
	}
	return nil
}

// Failed implements service.Service.
func (t *Tracer) Failed() <-chan error { return nil }

// Request begins the trace of a request that arrived at a time. The caller ends the span. A trace
// that the sender began is linked, and decides nothing: anyone can send its header, Traceparent. In
// an internal process, the request continues that trace.
func (t *Tracer) Request(ctx context.Context, spanName, traceparent string,
	arrived time.Time) (context.Context, trace.Span) {
	if t == nil {
		return ctx, trace.SpanFromContext(context.Background()) // records nothing
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(arrived)}
	switch sender := Parse(traceparent); {
	case sender.IsValid() && t.internal:
		ctx = trace.ContextWithRemoteSpanContext(ctx, sender)
	case sender.IsValid():
		options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: sender}))
	default:
		options = append(options, trace.WithNewRoot())
	}
	return t.tracer.Start(ctx, spanName, options...)
}

// Follow begins a span of a trace that another process began, at a time. The caller ends it.
func (t *Tracer) Follow(ctx context.Context, parent trace.SpanContext, spanName string, began time.Time,
	attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	return t.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, parent), spanName,
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithTimestamp(began), trace.WithAttributes(attributes...))
}

// Begin begins a span within that of ctx, if that is recorded. The function that it returns ends
// it. spanName is only called if there is a span.
func Begin(ctx context.Context, spanName func() string) (context.Context, func(err error)) {
	outer := trace.SpanFromContext(ctx)
	if !outer.IsRecording() {
		return ctx, func(error) {}
	}
	ctx, span := outer.TracerProvider().Tracer(name).Start(ctx, spanName(), trace.WithSpanKind(trace.SpanKindClient))
	return ctx, func(err error) { End(span, err) }
}

// End ends a span. The error's text stays out of it.
func End(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// HeaderName is the name of the header of requests and records that holds the place in a trace, of
// W3C's Trace Context.
const HeaderName = "traceparent"

var format propagation.TraceContext

// Header returns the header of a span whose trace is recorded, or "".
func Header(span trace.Span) string {
	if !span.SpanContext().IsSampled() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	format.Inject(trace.ContextWithSpan(context.Background(), span), carrier)
	return carrier[HeaderName]
}

// Pass puts the span of ctx into the header of a request to an internal process, in place of what a
// client sent. A trace that is not recorded is passed as well: it is not to be recorded there
// either.
func Pass(ctx context.Context, header http.Header) {
	for _, field := range format.Fields() {
		header.Del(field)
	}
	format.Inject(ctx, propagation.HeaderCarrier(header))
}

// Parse returns the place in a trace that a header holds. It is not valid if the header is not.
func Parse(header string) trace.SpanContext {
	if header == "" {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(format.Extract(context.Background(), propagation.MapCarrier{HeaderName: header}))
}

// loggingExporter logs what cannot be sent. The SDK would print it to the standard error output.
type loggingExporter struct {
	sdk.SpanExporter
	log *slog.Logger
}

// ExportSpans implements sdk.SpanExporter.
func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.log.Warn("traces could not be sent", "spans", len(spans), "error", err)
	}
	return nil
}
