package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/build"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/service"
)

// readinessInterval is the time between two looks at the checks of readiness.
const readinessInterval = 2 * time.Second

// addReadinessLog puts a service on the stack that logs when the process becomes ready, and when it
// no longer is and why. It comes last, so that nothing is called ready before it was started. A
// metric says which checks fail.
func (p *process) addReadinessLog() {
	failing := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "lodestone_check_failing",
		Help: "1 while a check of /readyz fails, by check: postgres, clickhouse, kafka and others.",
	}, []string{"check"})
	p.metrics.MustRegister(failing)
	p.stack.Add("readiness", service.NewLoop("readiness", func(ctx context.Context, started func()) error {
		for name := range p.checks { // a process that has started shows all its metrics
			failing.WithLabelValues(name).Set(0)
		}
		started()
		look := time.NewTicker(readinessInterval)
		defer look.Stop()
		var last string
		for {
			outcome, ready := httpserver.RunChecks(ctx, p.checks)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if p.stopping.Load() { // which was logged
				<-ctx.Done()
				return ctx.Err()
			}
			for name, result := range outcome {
				value := 1.0
				if result == "ok" {
					value = 0
				}
				failing.WithLabelValues(name).Set(value)
			}
			wrong := failed(outcome)
			switch {
			case ready && last != "ok":
				last = "ok"
				p.log.Info("ready", "version", build.Current().Version)
			case !ready && wrong != last:
				last = wrong
				p.log.Warn("not ready", "checks", wrong)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-look.C:
			}
		}
	}))
}

// failed returns the checks that did not pass, with their errors, in the order of their names.
func failed(outcome map[string]string) string {
	var all []string
	for name, result := range outcome {
		if result != "ok" {
			all = append(all, name+": "+result)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
