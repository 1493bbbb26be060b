package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/lists"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/raw"
)

// Records of the tests below, and the elements of each of their arrays.
const longRecords, longArrays = 400, 6

// long returns activities with long arrays, which are all about the topics Light 1, Light 2 and so on.
func long(t *testing.T, n, topics int) []bson.Raw {
	t.Helper()
	var spectrum bson.A
	for i := range topics {
		name := fmt.Sprint("Light ", 1+i)
		spectrum = append(spectrum, bson.D{{Key: "display_name", Value: name}, {Key: "score", Value: float64(i) / 3}})
	}
	docs := make([]bson.Raw, n)
	for i := range docs {
		var authors, topics bson.A
		for k := range longArrays {
			last, user := fmt.Sprint("Last", (i+k)%977), fmt.Sprint("u", k)
			authors = append(authors,
				bson.D{{Key: "last", Value: last}, {Key: "user", Value: user}, {Key: "affiliated", Value: true}})
			topics = append(topics,
				bson.D{{Key: "name", Value: fmt.Sprint("t", k)}, {Key: "x", Value: float64(i*k) / 7}})
		}
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: bson.NewObjectID()}, {Key: "type", Value: "publication"},
			{Key: "subtype", Value: "article"},
			{Key: "title", Value: fmt.Sprint("Soil and light ", i)},
			{Key: "year", Value: 1990 + i%30}, {Key: "month", Value: 1 + i%12},
			{Key: "authors", Value: authors}, {Key: "topics", Value: topics},
			{Key: "spectrum", Value: spectrum},
			{Key: "rendered", Value: bson.D{{Key: "web", Value: "web"}, {Key: "users", Value: bson.A{"u1"}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		docs[i] = doc
	}
	return docs
}

// looking counts how often work looks at its turn: Err is called by Turn.Check, and by others, which do not count. It
// ends with errLeft at one of these looks, unless last is 0.
type looking struct {
	context.Context
	leave context.CancelCauseFunc
	last  int64
	looks atomic.Int64
}

var errLeft = errors.New("the client has left")

// Err implements context.Context.
func (l *looking) Err() error {
	var callers [24]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for frame, more := frames.Next(); ; frame, more = frames.Next() {
		if strings.HasSuffix(frame.Function, "fair.(*Turn).Check") {
			if l.looks.Add(1) == l.last {
				l.leave(errLeft)
			}
			break
		}
		if !more {
			break
		}
	}
	return l.Context.Err()
}

// work builds an answer in a turn and reads it to its end, or to the look at which its client leaves. It returns how
// often the work has looked at its turn, and how many bytes it made.
func work(t *testing.T, plan response.Plan, on response.Snapshots, last int64) (looks, bytes int, err error) {
	t.Helper()
	parent, leave := context.WithCancelCause(t.Context())
	defer leave(nil)
	watched := &looking{Context: parent, leave: leave, last: last}
	ctx, turn, err := fair.New(1, 0).Begin(watched)
	if err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	body, err := plan.Build(ctx, on)
	if err == nil {
		for piece, failed := range body.Pieces(ctx) {
			bytes += len(piece)
			err = failed
		}
	}
	return int(watched.looks.Load()), bytes, err
}

// question is a request of TestEveryAnswerLooks.
type question struct {
	target string
	least  int // looks at the turn
}

// questions ask for answers of all resources that read rows: lists by list format, the others by path.
var apiQuestions = []question{
	{"/api/activities", longRecords},
	{"/api/activities?columns[]=title&columns[]=authors", longRecords},
	{"/api/activities?full=1&columns[]=title", longRecords / 256}, // prepared fragments in a prepared order
	{"/api/activities?aggregate=title", longRecords / 256},
	{"/api/activities?aggregate=authors.last", longRecords / 256},
	{"/api/all-activities", 1},
	{"/api/all-activities?path=https://a.example/", longRecords},
	{"/api/html", longRecords},
	{"/api/search/activities?columns[]=title", longRecords},
	{"/api/search/activities?columns[]=authors.last&columns[]=topics.x", longRecords * longArrays * longArrays},
	{"/api/search/activities?columns[]=authors.last&columns[]=topics.x&limit=1", longRecords},
	{"/api/search/activities?aggregate=authors.last", longRecords},
	{"/api/search/activities?aggregate=authors.last&aggregate_function=sum&aggregate_value=topics.x", longRecords},
	{"/api/search/activities?aggregate=title&aggregate_function=median&aggregate_value=topics.x", 2 * longRecords},
	{"/api/search/activities?aggregate=topics.x&aggregate_function=mean&aggregate_value=topics.x", longRecords},
	{"/api/spectrum-activities?spectrum=Light%201", longRecords},
	{"/api/levenshtein?title=Soil%20and%20lights", longRecords},
	{"/api/projects", longRecords},
	{"/api/proposals", longRecords},
	{"/api/events", longRecords},
	{"/api/conferences", longRecords},
	{"/api/deadlines", longRecords},
	{"/api/projects-by-funding-number?number=7", longRecords},
	{"/portfolio/spectrum", longRecords},
	{"/api/search/projects", longRecords},
	{"/api/search/proposals", longRecords},
	{"/api/search/journals", longRecords},
	{"/api/search/persons", longRecords},
	{"/api/search/conferences", longRecords},
}

// single are the resources whose answer has one row.
var single = []string{"/api/users/:id", "/api/user-units/:id"}

// TestEveryAnswerLooks: work for every resource and list format that reads rows looks at its turn, by which other
// clients get theirs, for each row, and ends soon after it has learned that its client has left, wherever it then is.
func TestEveryAnswerLooks(t *testing.T) {
	t.Run("memory", everyAnswerLooks)
	proxytest.WholeOnly(t)
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	t.Run("store", everyAnswerLooks)
}

func everyAnswerLooks(t *testing.T) {
	o := proxytest.ListOptions(t)
	store := proxytest.ListStore(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if collection == "activities" {
			return append(docs, long(t, longRecords, 1)...)
		}
		return docs
	})
	for _, def := range api.Views() {
		if def.Name == rules.ViewActivities {
			continue
		}
		var docs []bson.Raw
		for i := range longRecords {
			doc, err := bson.Marshal(bson.D{
				{Key: "_id", Value: fmt.Sprintf("r%05d", i)}, {Key: "title", Value: "Soil"},
				{Key: "funding_number", Value: "7"}, {Key: "public", Value: true},
			})
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		store.Publish(def.Name, docs...)
	}
	site := proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 64<<20)
	all := []access.Permission{access.ProjectsView, access.ProposalsView, access.PortfolioSpectrum}
	rights := access.New(access.Options{Anonymous: all})
	env, err := api.New(api.Options{Resources: o.Resources, Access: rights},
		api.Shared{Now: o.Now, Timeout: proxytest.Patience})
	if err != nil {
		t.Fatal(err)
	}
	routes := env.Routes()
	asked := map[string]bool{}
	for _, q := range apiQuestions {
		path, _, _ := strings.Cut(q.target, "?")
		asked[path] = true
		looksAndEnds(t, site, q, o.Now(), func(planning *response.Planning) (response.Plan, error) {
			return routes[path](t.Context(), api.Request{Params: query.Read(argsOf(t, q.target)), Planning: planning})
		})
	}
	for path := range routes {
		if !asked[path] && !slices.Contains(single, path) {
			t.Errorf("%s: no question", path)
		}
	}
	public, err := lists.New(o.Lists, lists.Shared{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{
		".bib", ".ris", ".csv", ".csl.json", ".jsonld", ".json?limit=500", ".html?limit=500",
		".bib?latex=1&sort=title",
		".csv?group=person", ".json?q=soil&facets=year,person,topic",
	} {
		q := question{"/lists/activities" + suffix, 100}
		looksAndEnds(t, site, q, o.Now(), func(planning *response.Planning) (response.Plan, error) {
			path, _, _ := strings.Cut(q.target, "?")
			return public.Plan(t.Context(),
				lists.Request{Path: lists.SplitPath(path), Args: argsOf(t, q.target), Base: "https://data.example",
					Planning: planning})
		})
	}
}

// argsOf yields the parameters of a request.
func argsOf(t *testing.T, target string) iter.Seq2[[]byte, []byte] {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	args := &fasthttp.Args{}
	args.Parse(u.RawQuery)
	return args.All()
}

func looksAndEnds(t *testing.T, site *proxytest.Site, q question, now time.Time, ask response.MakePlan) {
	t.Run(q.target, func(t *testing.T) {
		plan, on, err := ask.On(site.Views, now)
		if err != nil {
			t.Fatal(err)
		}
		first, _, err := work(t, plan, on, 0) // also derives the data that it needs
		if err != nil {
			t.Fatal(err)
		}
		looks, bytes, err := work(t, plan, on, 0)
		if err != nil || bytes == 0 || max(first, looks) < q.least {
			t.Fatalf("%d and %d looks while it made %d bytes, %v; want %d looks", first, looks, bytes, err, q.least)
		}
		const most = 64 // looks of the goroutines that share the work
		for _, last := range slices.Compact(
			[]int{1, 2, looks / 8, looks / 4, looks / 2, looks * 3 / 4, looks * 7 / 8}) {
			if last = max(last, 1); last > looks*7/8 && last > 1 {
				continue
			}
			after, _, err := work(t, plan, on, int64(last))
			// Goroutines that share a search end it as soon as one of them finds that no better title follows: at any
			// look, and also at the one after which the client has left.
			if nearlyOver := last > 1 && looks-last <= most; nearlyOver && err == nil && after <= last+most {
				continue
			}
			if !errors.Is(err, errLeft) || after > last+most {
				t.Errorf("left at look %d of %d: ended after %d: %v", last, looks, after, err)
			}
		}
	})
}

// endless is a store with a view whose rows do not end before a channel is closed.
type endless struct {
	view.Source
	ended <-chan struct{}
	began chan<- struct{} // receives when a query begins
}

func (e endless) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	if at.View != rules.ViewActivities {
		return e.Source.Select(ctx, at, q)
	}
	return func(yield func(bson.Raw, error) bool) {
		var docs []bson.Raw
		for doc, err := range e.Source.Select(ctx, at, q) {
			if err != nil {
				yield(nil, err)
				return
			}
			docs = append(docs, slices.Clone(doc))
		}
		e.began <- struct{}{}
		for {
			for i, doc := range docs {
				if !yield(doc, nil) {
					return
				}
				// From now on without what an answer would have a row of, so that it does not grow.
				var err error
				if docs[i], err = raw.SetField(doc, "spectrum", raw.NewBool(true)); err != nil {
					yield(nil, err)
					return
				}
			}
			select {
			case <-e.ended:
				return
			default:
			}
		}
	}
}

// TestAnswersBesideAggregates: while more clients than there are turns ask for aggregates and spectra that take long,
// another client's question is answered. The long answers are complete in the end.
func TestAnswersBesideAggregates(t *testing.T) {
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	for _, target := range []string{
		"/api/search/activities?aggregate=authors.last&aggregate_function=sum&aggregate_value=topics.x&limit=%d",
		"/api/search/activities?aggregate=authors.last&limit=%d",
		"/api/spectrum-activities?spectrum=Light%%20%d",
		"/api/activities?aggregate=authors.last&limit=%d",
	} {
		t.Run(target, func(t *testing.T) {
			clients := 2*runtime.GOMAXPROCS(0) + 2
			ended, began := make(chan struct{}), make(chan struct{}, 10*clients)
			store := proxytest.NewStore()
			store.Publish(rules.ViewActivities, long(t, 3, clients)...)
			store.Publish(rules.ViewJournals, proxytest.Parse(t, `{"_id":"j","journal":"Soil"}`)...)
			store.Queries = func(from view.Source) view.Source { return endless{from, ended, began} }
			o := proxytest.Options(t)
			site := proxytest.Open(t, store, o)
			var asking sync.WaitGroup
			for i := range clients {
				asking.Go(func() {
					if res := site.Get(fmt.Sprintf(target, 1+i)); res.StatusCode != http.StatusOK {
						t.Errorf("%s: %.200s", res.Status, res.Body)
					}
				})
			}
			for range 2 * runtime.GOMAXPROCS(0) { // as many as there are turns for quick work
				<-began
			}
			if res := site.Get("/api/search/journals?limit=1"); res.StatusCode != http.StatusOK {
				t.Errorf("beside long answers: %s: %.200s", res.Status, res.Body)
			}
			close(ended)
			asking.Wait()
		})
	}
}

// TestHeldGroups: groups and entries count towards the memory for making answers. An answer that needs more than it
// may take is refused with that reason, because a retry would not help.
func TestHeldGroups(t *testing.T) {
	store := proxytest.NewStore()
	store.Publish(rules.ViewActivities, long(t, longRecords, 1)...)
	o := proxytest.Options(t)
	o.Cache.InFlight = 3 * 64 << 10
	site := proxytest.Open(t, store, o)
	for _, target := range []string{
		"/api/search/activities?aggregate=title&aggregate_function=sum&aggregate_value=topics.x",
		"/api/search/activities?aggregate=year&aggregate_function=median&aggregate_value=topics.x",
		"/api/search/activities?aggregate=title",
		"/api/activities?aggregate=title",
		"/api/spectrum-activities?spectrum=Light%201",
	} {
		for range 2 {
			e := site.Get(target).Envelope(t)
			if e.Status != http.StatusBadRequest || !strings.Contains(e.Msg, "memory") {
				t.Errorf("%s: status %d: %s", target, e.Status, e.Msg)
			}
		}
	}
	few := site.Get("/api/search/activities?aggregate=type&aggregate_function=sum&aggregate_value=topics.x")
	if few.StatusCode != http.StatusOK {
		t.Errorf("few groups: %s: %s", few.Status, few.Body)
	}
}
