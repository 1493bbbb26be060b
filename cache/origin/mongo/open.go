// Package mongo is the store in a MongoDB, 6 to 8: standalone, replica set or sharded cluster.
//
// # Collections
//
// The institute's collections are only read, save by `vitrine import`. In the
// views database, which may be the same or another, Vitrine keeps
//
//	view_NAME        a view's rows: the record and _view: {gen, hash};
//	                 a deleted one is {_id, _view: {gen, hash, gone: true}}
//	view_NAME-new-…  the rows of a bulk load: of an attempt at a first generation, see bulkload.go
//	view_meta        one document per view: the committed generation and what belongs to it
//	view_staged      row versions being prepared, and committed ones not settled yet
//	view_lease       one document per lease
//	view_upstream    one document per kept answer of the other server, see responses.go
//
// # How a publication stays whole without transactions
//
// Only single documents change atomically, so everything hangs on the view's one document in view_meta. Everything
// else is written where no reader looks until that document points there.
//
// Begin counts up meta.attempt, which fences off all earlier publications, and prepare writes every row to
// view_staged under that attempt's number. Commit is one replacement of meta, on condition that it is still as it was
// read a moment before, with the generation and the attempt of Begin and no newer lease token; it sets the new
// generation, which readers see from then on, and staged: attempt. Settle then folds the staged rows into view_NAME,
// deletes each from view_staged only after that, and ends with staged: 0. A killed publisher leaves either an
// uncommitted attempt, which no reader sees and the next Begin deletes, or a committed one, which readers overlay and
// Begin settles first.
//
// Nothing is prepared in view_NAME itself, though rows with new ids could be written there once instead of twice: the
// write of a publisher that was fenced off meanwhile may arrive at any time later, and would become part of another
// publisher's generation. In view_staged it stays under an attempt that is not committed. Every other late write is
// harmless: settling replaces only older versions, and deletions concern only finished attempts and generations. One
// exception is in publish.go. Another is a process that stops between finding the rows of a lost meta and deleting
// them: it deletes rows published meanwhile. Front ends and the next run notice that by counting rows. The first
// generation, which has all rows, is nevertheless written once: see bulkload.go.
//
// A reader takes meta, then the rows of meta's staged attempt, and view_NAME last. In the other order a row could be
// folded in after the reader read view_NAME and deleted before it reads view_staged. Rows may be newer than the meta;
// so the reader reads meta again, and then the changes since, until meta stays the same.
package mongo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
)

// Options tunes a store; the zero value works. Options in the URI (pool sizes, timeoutMS, …) take precedence.
type Options struct {
	// ViewsDatabase holds the side collections. If empty, it is the URI's database, which has the source collections.
	ViewsDatabase string
	// BatchSize is how many statements one write command carries. If zero, 1000.
	BatchSize int
	// KeepDeltas is how many generations back a delta reaches; older tombstones are deleted. If zero, 1000. It should
	// span more time than a stalled process may sleep, see publish.go.
	KeepDeltas uint64
	// Now is the clock of publication times. If nil, time.Now.
	Now func() time.Time
	// Elapsed is the monotonic clock by which other holders' leases run out. If nil, the process's own.
	Elapsed func() time.Duration
}

// Defaults of options in the URI.
const (
	// timeout bounds each operation whose context has no deadline, and each batch of a cursor.
	timeout = 30 * time.Second
	// connectTimeout is how long an operation waits for a server, and for a connection.
	connectTimeout = 10 * time.Second
)

// Store is the MongoDB origin.Store.
type Store struct {
	*registry.Leases
	*registry.Views

	name    string // the URI without user, password and options
	client  *driver.Client
	source  *driver.Database // the database with the institute's collections
	own     *driver.Database // the database with the side collections
	primary bool             // reads of source come from the primary
	batch   int              // the most statements in one write command
	gate    origin.Gate      // all requests but Ping pass it
	broken  atomic.Bool      // the last change stream ended or was refused
	refused atomic.Bool      // the last request got no reply, or a server refused to serve it
	open    sync.Once        // sets kept
	kept    origin.Responses // see Responses
	settled sync.Map         // by view name, the origin.Meta of the generation that was last found settled
}

var _ origin.Store = (*Store)(nil)

// Open prepares a store for a mongodb:// or mongodb+srv:// URI. It does not wait for a server, so that a front end
// can start from a snapshot while the database is down.
func Open(ctx context.Context, uri string, o Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	server, database, secret, err := splitURI(uri)
	if err != nil {
		return nil, err
	}
	if database == "" {
		return nil, fmt.Errorf("store %s: no database given: want one after the host, as in mongodb://host/osiris",
			server)
	}
	s := &Store{name: server + "/" + database, batch: cmp.Or(o.BatchSize, 1000), gate: origin.NoGate}
	own := cmp.Or(o.ViewsDatabase, database)
	if own != database {
		s.name += " (views in " + own + ")"
	}
	config := options.Client().SetAppName("vitrine").SetTimeout(timeout).SetMaxPoolSize(50).
		SetServerSelectionTimeout(connectTimeout).SetConnectTimeout(connectTimeout).
		SetMonitor(monitor(&s.refused)).ApplyURI(uri)
	if s.client, err = driver.Connect(config); err != nil {
		return nil, fmt.Errorf("store %s: %s", s.name, redact(err.Error(), secret))
	}
	// The URI chooses the servers to read from. A failover must not revoke what a run has read: change streams do not
	// report that, and may keep later runs from reading it again.
	s.primary = config.ReadPreference == nil || config.ReadPreference.Mode() == readpref.PrimaryMode
	s.source = s.client.Database(database,
		options.Database().SetWriteConcern(durable()).SetReadConcern(readconcern.Majority()))
	// Readers of views see only writes of a majority. Otherwise a failover could revoke a generation that they have
	// read, and another one could get its number.
	s.own = s.client.Database(own, options.Database().SetWriteConcern(durable()).
		SetReadConcern(readconcern.Majority()).SetReadPreference(readpref.Primary()))
	metas := table[registry.View, *registry.View]{s.side("meta")}
	leases := table[registry.Lease, *registry.Lease]{s.side("lease")}
	s.Leases = registry.NewLeases(leases, metas.newestToken, o.Now, o.Elapsed)
	p := publisher{s, metas, cmp.Or(o.KeepDeltas, 1000), new(atomic.Bool)}
	s.Views = registry.NewViews(metas, s.Leases, registry.Rows{
		Put: p.stage, Settle: p.settle, KeepBytes: settleBytes, Discard: p.discard, BulkLoad: p.bulkLoad,
	})
	return s, nil
}

// durable is the write concern of all writes: a failover cannot lose an acknowledged write, not even if all servers
// lose their power. A lost commit could give its generation a second time, to other rows.
func durable() *writeconcern.WriteConcern {
	journal := true
	return &writeconcern.WriteConcern{W: "majority", Journal: &journal}
}

// Name returns the store's URI without user, password and options.
func (s *Store) Name() string { return s.name }

// Close ends all connections.
func (s *Store) Close() (err error) {
	defer wrap.Error(&err, "close %s", s.name)
	defer recoverReply(&err, asIs)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return s.client.Disconnect(ctx)
}

// splitURI splits scheme://[user[:password]@]hosts[/database][?options]; server is the part that may be shown.
func splitURI(uri string) (server, database, secret string, err error) {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || (scheme != "mongodb" && scheme != "mongodb+srv") {
		return "", "", "", errors.New("the store's URI does not begin with mongodb:// or mongodb+srv://")
	}
	rest, _, _ = strings.Cut(rest, "?")
	hosts, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(hosts, '@'); at >= 0 {
		_, secret, _ = strings.Cut(hosts[:at], ":")
		hosts = hosts[at+1:]
	}
	server = scheme + "://" + hosts
	if database, err = url.PathUnescape(path); err != nil {
		err = fmt.Errorf("store %s: database name: %w", server, err)
	}
	return server, database, secret, err
}

// redact removes the password from a message of the driver, which may quote the URI, escaped or not.
func redact(message, secret string) string {
	forms := []string{secret}
	if plain, err := url.PathUnescape(secret); err == nil {
		forms = append(forms, plain)
	}
	for _, form := range forms {
		if form != "" {
			message = strings.ReplaceAll(message, form, "***")
		}
	}
	return message
}
