package mongo_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/rules"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// databases counts the tests' databases, so that each test gets a new one.
var databases atomic.Int64

// open opens a store on a fresh database and closes it when the test ends.
func open(t testing.TB, server string, o mongo.Options) *mongo.Store {
	t.Helper()
	return openAt(t, fmt.Sprintf("%stest%d", server, databases.Add(1)), o)
}

// openAt opens a store and closes it when the test ends. Unless the URI has options, the store waits for a busy
// server.
func openAt(t testing.TB, uri string, o mongo.Options) *mongo.Store {
	t.Helper()
	if !strings.Contains(uri, "?") {
		uri += mongotest.Patient
	}
	o.BatchSize = mongotest.BatchSize
	s, err := mongo.Open(t.Context(), uri, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestWatchWithoutChangeStreams(t *testing.T) {
	s := open(t, mongotest.Start(t), mongo.Options{})
	err := s.Watch(t.Context(), []string{"activities"}, func() {}, func(string) {})
	if !errors.Is(err, origin.ErrUnsupported) {
		t.Errorf("Watch = %v, want ErrUnsupported", err)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tc := range []struct{ name, uri, want string }{
		{"no database", "mongodb://user:p%40ss@localhost:1", "no database given"},
		{"no database but options", "mongodb://user:p%40ss@localhost:1/?appName=x", "no database given"},
		{"other scheme", "http://user:p%40ss@localhost/db", "mongodb://"},
		{"bad option", "mongodb://user:p%40ss@localhost/db?w=-1", "store mongodb://localhost/db"},
		{"stray @", "mongodb://user:p@ss@localhost/db", "store mongodb://localhost/db"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := mongo.Open(t.Context(), tc.uri, mongo.Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error = %v, want one with %q", err, tc.want)
			}
			for _, secret := range []string{"p%40ss", "p@ss"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("error contains the password: %v", err)
				}
			}
		})
	}
}

func TestName(t *testing.T) {
	for _, tc := range []struct {
		uri  string
		o    mongo.Options
		want string
	}{
		{"mongodb://user:secret@a:1,b:2/osiris?appName=x", mongo.Options{}, "mongodb://a:1,b:2/osiris"},
		{"mongodb://a:1/osiris", mongo.Options{ViewsDatabase: "vitrine"}, "mongodb://a:1/osiris (views in vitrine)"},
	} {
		if got := openAt(t, tc.uri, tc.o).Name(); got != tc.want {
			t.Errorf("Name of %s = %q, want %q", tc.uri, got, tc.want)
		}
	}
}

// TestUnreachable opens a store on a server that does not exist.
func TestUnreachable(t *testing.T) {
	s := openAt(t, "mongodb://127.0.0.1:1/db?serverSelectionTimeoutMS=1&connectTimeoutMS=1", mongo.Options{})
	if err := s.Ping(t.Context()); !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("Ping = %v, want rules.ErrUnavailable", err)
	}
	if _, err := s.Meta(t.Context(), "activities"); !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("Meta = %v, want rules.ErrUnavailable", err)
	}
}

// TestUpsertNamesWhatIsRefused: the error names a record that servers refuse, and does not report
// the server as away.
func TestUpsertNamesWhatIsRefused(t *testing.T) {
	s := open(t, mongotest.Start(t), mongo.Options{})
	doc, err := bson.Marshal(bson.D{{Key: "$x", Value: 1}, {Key: "_id", Value: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Upsert(t.Context(), "things", []bson.Raw{doc})
	if err == nil || !strings.Contains(err.Error(), `"b"`) || errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
