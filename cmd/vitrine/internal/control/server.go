package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

// Options describe the store of a server, and what it does with it. All fields are required.
type Options struct {
	Path     string // of the store's file
	Store    origin.Importer
	Backup   func(context.Context, bolt.Destination) error
	Builds   bool   // this process builds views
	Imported func() // called when an import ends that has stored or deleted records
	Log      *slog.Logger
}

// Server answers requests on the control socket of a store.
type Server struct {
	Options
	http http.Server

	mu        sync.Mutex // guards the following fields
	importing net.Conn   // the connection of the running import; nil if none runs
	changed   bool       // the running import has changed records
}

// Timeouts of requests and connections, for clients that hang. A client sends nothing while it reads a large dump
// for the first time.
const (
	uploadTime = 5 * time.Minute
	idleTime   = 2 * time.Hour
	stuckTime  = 30 * time.Second // for a client that does not read its answer
	lastTime   = time.Second      // for requests when the server ends
)

// NewServer returns a server. Run opens its socket.
func NewServer(o Options) *Server {
	s := &Server{Options: o}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /store", s.store)
	routes.HandleFunc("POST /import", s.beginImport)
	routes.HandleFunc("POST /upsert", s.upsert)
	routes.HandleFunc("POST /ids", s.ids)
	routes.HandleFunc("POST /remove", s.remove)
	routes.HandleFunc("GET /backup", s.backup)
	s.http = http.Server{
		Handler:           routes,
		ReadHeaderTimeout: stuckTime, ReadTimeout: uploadTime, IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				s.endImport(c)
			}
		},
	}
	return s
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// Run opens the socket, and answers until ctx and all requests have ended. If it cannot open the socket, it logs
// that commands cannot reach this process, and returns nil: the folder may not be writable, or its file system may
// not support sockets.
func (s *Server) Run(ctx context.Context) error {
	l, err := listen(s.Path)
	if err != nil {
		s.Log.WarnContext(ctx, "no socket beside the store: vitrine import and vitrine backup need the server stopped",
			"socket", SocketOf(s.Path), "error", err)
		return nil
	}
	s.http.BaseContext = func(net.Listener) context.Context { return ctx } // backups end with it
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		// Writes of requests are short, but a client may hang in the middle of one.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
		defer cancel()
		if s.http.Shutdown(last) != nil {
			_ = s.http.Close()
		}
	})
	if err = s.http.Serve(l); !stop() {
		<-closed
	}
	// The store is still open, so the socket cannot be that of another server.
	if removed := os.Remove(SocketOf(s.Path)); removed != nil {
		s.Log.WarnContext(ctx, "remove the store's socket", "error", removed)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Info is the answer of GET /store.
type Info struct {
	Builds    bool `json:"builds"`    // the server builds views
	Importing bool `json:"importing"` // an import runs
}

func (s *Server) store(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply(w, http.StatusOK, Info{s.Builds, s.importing != nil})
}

// result is the answer to a request that changes records. Counts are valid with an error, too.
type result struct {
	origin.UpsertCounts
	Removed int
	Msg     string `json:",omitempty"` // why it failed
}

// beginImport begins an import on the request's connection, unless another one runs. Two at a time would mix their
// records, and one could delete what the other has just stored.
func (s *Server) beginImport(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := connOf(r); s.importing == nil || s.importing == own {
		s.importing = own
		reply(w, http.StatusOK, Info{s.Builds, true})
		return
	}
	reply(w, http.StatusConflict, result{Msg: "another import runs: try again when it has ended"})
}

// endImport ends the import of a connection, if it has one.
func (s *Server) endImport(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.importing != c {
		return
	}
	if s.changed {
		s.Imported()
	}
	s.importing, s.changed = nil, false
}

// checkImport reports whether an import runs on the request's connection. If none does, it answers the request.
func (s *Server) checkImport(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.importing != connOf(r) {
		reply(w, http.StatusConflict, result{Msg: "this connection has begun no import"})
		return false
	}
	s.changed = true // also if a write fails, because a part of it may be stored
	return true
}

// connOf returns the connection of a request.
func connOf(r *http.Request) net.Conn { return r.Context().Value(connKey{}).(net.Conn) }

// documents reads the documents of a request of the running import. If that fails, it answers the request and
// returns false. Nothing of an incomplete body is stored.
func (s *Server) documents(w http.ResponseWriter, r *http.Request) ([]bson.Raw, bool) {
	if !s.checkImport(w, r) {
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		reply(w, http.StatusBadRequest, result{Msg: "read documents: " + err.Error()})
		return nil, false
	}
	docs, err := split(body)
	if err != nil {
		reply(w, http.StatusBadRequest, result{Msg: err.Error()})
	}
	return docs, err == nil
}

func (s *Server) upsert(w http.ResponseWriter, r *http.Request) {
	docs, ok := s.documents(w, r)
	if !ok {
		return
	}
	done, err := s.Store.Upsert(r.Context(), r.URL.Query().Get("collection"), docs)
	answer(w, result{UpsertCounts: done}, err)
}

// ids sends the ids of a collection, and then the number of records that it has deleted: the ids of these are
// damaged, so Retain deletes them in any case.
func (s *Server) ids(w http.ResponseWriter, r *http.Request) {
	if !s.checkImport(w, r) {
		return
	}
	out := bufio.NewWriter(deadlineWriter{r.Context(), w, http.NewResponseController(w)})
	var failed error
	removed, err := s.Store.Retain(r.Context(), r.URL.Query().Get("collection"), func(id bson.RawValue) bool {
		if failed == nil {
			var doc bson.Raw
			if doc, failed = idDocument(id); failed == nil {
				_, failed = out.Write(doc)
			}
		}
		return true
	})
	end := bson.D{{Key: "removed", Value: int64(removed)}}
	if err = errors.Join(err, failed); err != nil {
		end = append(end, bson.E{Key: "error", Value: err.Error()})
	}
	if doc, err := bson.Marshal(end); err == nil {
		_, _ = out.Write(doc) // the client notices that the end is missing
	}
	_ = out.Flush()
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	docs, ok := s.documents(w, r)
	if !ok {
		return
	}
	gone := make(map[string]bool, len(docs))
	for _, doc := range docs {
		gone[keyOf(doc.Lookup("_id"))] = true
	}
	removed, err := s.Store.Retain(r.Context(), r.URL.Query().Get("collection"), func(id bson.RawValue) bool {
		return !gone[keyOf(id)]
	})
	answer(w, result{Removed: removed}, err)
}

// keyOf returns the type and the bytes of an id as the key of a map. The client returns ids as they were sent.
func keyOf(id bson.RawValue) string { return string(byte(id.Type)) + string(id.Value) }

// The header with the size of a copy, and the trailer with the reason why it is incomplete.
const (
	sizeHeader    = "Vitrine-Size"
	failedTrailer = "Vitrine-Failed"
	yielded       = "yielded" // bolt.ErrYielded
)

// backup sends a copy of the store. A client that does not read is disconnected, at once if a writer waits for the
// copy.
func (s *Server) backup(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	var stop func() bool
	err := s.Backup(r.Context(), func(ctx context.Context, size int64) io.Writer {
		w.Header().Set(sizeHeader, strconv.FormatInt(size, 10))
		w.Header().Set("Trailer", failedTrailer)
		stop = context.AfterFunc(ctx, func() { _ = control.SetWriteDeadline(time.Now().Add(time.Second / 10)) })
		return deadlineWriter{ctx, w, control}
	})
	if stop != nil {
		stop()
	}
	_ = control.SetWriteDeadline(time.Now().Add(stuckTime))
	switch {
	case err == nil:
	case stop == nil: // nothing was sent
		answer(w, result{}, err)
	case errors.Is(err, bolt.ErrYielded):
		w.Header().Set(failedTrailer, yielded)
	default:
		w.Header().Set(failedTrailer, err.Error())
	}
}

// deadlineWriter writes to a client, which must read within stuckTime.
type deadlineWriter struct {
	ctx     context.Context
	to      io.Writer
	control *http.ResponseController
}

// Write implements io.Writer. It checks ctx after it has set the deadline: the end of ctx sets a nearer one, which
// it must not put off.
func (w deadlineWriter) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(stuckTime))
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

// answer sends a result, with its error.
func answer(w http.ResponseWriter, r result, err error) {
	status := http.StatusOK
	if err != nil {
		status, r.Msg = http.StatusInternalServerError, err.Error()
	}
	reply(w, status, r)
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // fails if the client is gone
}
