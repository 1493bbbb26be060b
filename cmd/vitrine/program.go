package main

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"

	"vitrine/cache/citation"
	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/view"
	"vitrine/cmd/vitrine/internal/control"
	"vitrine/cmd/vitrine/internal/memory"
	"vitrine/cmd/vitrine/internal/systemd"
	"vitrine/cmd/vitrine/internal/unrecorded"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy"
	"vitrine/proxy/api"
	"vitrine/proxy/cockpit"
	"vitrine/proxy/metrics"
)

// guardedStore is what the program itself uses of its store. It has no method that reads rows: requests read these
// only through the views and program.records, which wait in the admission queue.
type guardedStore interface {
	Name() string
	State() circuit.State
	Run(ctx context.Context) error
	origin.Leases
	origin.Importer
}

// program has the parts that serve runs, and connects them.
//
// assemble fills it and settle, follow and the handlers of the operator work on it from goroutines of their own.
// All fields but settings, ran and unrecorded, which have their own locks, are fixed before run.
type program struct {
	store      guardedStore
	records    api.Records                            // the source collections
	examine    func(ctx context.Context) (any, error) // examines an embedded store; nil for another
	control    *control.Server                        // for commands on an embedded store; nil for another
	institute  *institute
	changing   chan struct{}    // of capacity one: full while a goroutine, which alone changes settings, adopts them
	mu         sync.Mutex       // guards settings; never held while files or the store are read
	settings   settings         // the settings in use by the server
	sources    configs.Sources  // of the configuration, which a reload reads again
	hangups    <-chan os.Signal // requests to read it again; nil if they are disabled
	log        *slog.Logger
	views      *view.Set
	runner     *materialize.Runner // nil with --no-materialize
	unrecorded unrecorded.Runs
	metrics    *metrics.Metrics
	journal    *cockpit.Journal // of log
	citations  *citation.Client // nil if none is configured
	keeper     *kept.Keeper     // of the other server's answers; nil if there is no such server
	server     *proxy.Server
	ran        sync.Map          // keys are the views whose job has ended at least once
	notifier   *systemd.Notifier // nil if no service manager asks for messages
	onSettled  func()            // called when the server has logged its start; may be called several times
}

// settle calls onSettled when every view is loaded and its job has run. From then on the start logs nothing, so
// that printed text stays visible.
func (p *program) settle() {
	p.notifier.Wake() // perhaps it is ready now
	// Count views, not runs: while the first job of one view takes long, those of others run many times.
	waits := func(st view.Status) bool {
		_, ran := p.ran.Load(st.View)
		return p.runner != nil && !ran
	}
	if p.views.Ready() && !slices.ContainsFunc(p.views.Status(), waits) {
		memory.Pace(memory.ServingGrowth)
		p.onSettled()
	}
}

// storeChanged makes the views poll at once when the store is available again. The circuit calls it when the store
// goes away and when it is back. Without it a view would wait for its next poll.
func (p *program) storeChanged(back bool) {
	if !back {
		return // there are no views yet at the start
	}
	for _, st := range p.views.Status() {
		p.views.Notify(st.View)
	}
}
