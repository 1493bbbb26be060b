package stores

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cache/view/snapfile"
	"vitrine/cmd/vitrine/programtest"
)

// TestStoreOutages takes the store away in every possible way. Each time the program goes on
// serving, reports the outage, fails quickly where it needs the store, sends the store no requests,
// and recovers by itself, with the changes made meanwhile.
func TestStoreOutages(t *testing.T) {
	for _, tt := range []struct {
		name    string
		fault   mongotest.Fault
		restart bool // another server takes over the same files
		vanish  bool // open connections never get an answer again
	}{
		{name: "refused", fault: mongotest.Fault{Refuse: true}},
		{name: "reset", fault: mongotest.Fault{Reset: true}},
		{name: "hanging", fault: mongotest.Fault{Hang: true}},
		{name: "cut mid-message", fault: cutAfter(200)},
		{name: "slower than the timeout", fault: mongotest.Fault{Delay: time.Minute}},
		{name: "failing over", fault: mongotest.Fault{Reset: true}, restart: true},
		{name: "vanished", fault: mongotest.Fault{Hang: true}, vanish: true},
		{name: "not primary", fault: mongotest.Fault{Reply: mongotest.Refusal(10107, "NotWritablePrimary")}},
		{name: "recovering", fault: mongotest.Fault{Reply: mongotest.Refusal(13436, "NotPrimaryOrSecondary")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := t.TempDir()
			ferret := mongotest.StartIn(t, files)
			o := programtest.StartOutage(t, t.TempDir(), ferret.URI)
			o.UntilServed(t)
			o.Ready()
			o.Until(t, "")
			_, before := programtest.Ask(t, o.Base+programtest.Listed)
			o.Network.Set(tt.fault)
			if tt.restart {
				ferret.Kill()
			}
			if tt.vanish {
				o.Network.Abandon()
			}
			o.Until(t, "degraded")
			o.IsServing(t, before)
			o.IsToldOf(t)
			o.IsLeftAlone(t)
			if tt.restart {
				ferret = mongotest.StartIn(t, files)
				o.Direct = programtest.Reach(t, ferret.URI)
				o.Network.Switch(ferret.URI)
			}
			o.Add(t)
			o.Network.Set(mongotest.Fault{})
			o.UntilServed(t)
			o.Until(t, "")
			programtest.Await(t, "a person is read from the store afterwards", func() string {
				res, body := programtest.Ask(t, o.Base+"/api/users/unknown-"+strings.ReplaceAll(tt.name, " ", "-"))
				if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusServiceUnavailable {
					t.Fatalf("a person read from the store afterwards: %d %s", res.StatusCode, body)
				}
				return programtest.Unless(res.StatusCode == http.StatusNotFound) // the store may be slow, too
			})
			o.UntilMarked(t, false)
		})
	}
}

// TestStopWhileStoreHangs: a program that waits for its store ends on SIGTERM.
func TestStopWhileStoreHangs(t *testing.T) {
	t.Parallel()
	o := programtest.StartOutage(t, t.TempDir(), mongotest.Start(t))
	o.UntilServed(t)
	o.Ready()
	o.Network.Set(mongotest.Fault{Hang: true})
	o.Until(t, "degraded")
	if code := o.Stop(); code != 0 {
		t.Errorf("SIGTERM while the store hangs: exit code %d\n%s", code, o.Log())
	}
}

// outagesEnv names the variable with the number of faults in the long form of TestRandomOutages.
const outagesEnv = "VITRINE_TEST_OUTAGES"

// TestRandomOutages makes the network fail in one way after another, sometimes before the program
// has recovered, while the source changes. The program answers every list, and in the end serves
// every change.
func TestRandomOutages(t *testing.T) {
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv(outagesEnv), "6"))
	if err != nil {
		t.Fatalf("%s: %v", outagesEnv, err)
	}
	t.Parallel()
	o := programtest.StartOutage(t, t.TempDir(), mongotest.Start(t))
	o.UntilServed(t)
	o.Ready()
	rng := rand.New(rand.NewPCG(11, 13))
	answers, reads := 0, map[int]int{}
	for round := range rounds {
		faults := []mongotest.Fault{
			{Refuse: true}, {Reset: true}, {Hang: true}, {Delay: 200 * time.Millisecond}, {Delay: 3 * time.Second},
			cutAfter(1 + rng.IntN(20_000)), {},
		}
		o.Network.Set(faults[rng.IntN(len(faults))])
		if rng.IntN(4) == 0 {
			o.Network.Abandon()
		}
		o.Add(t)
		for range rng.IntN(300) {
			res, body := programtest.Ask(t, o.Base+programtest.Listed)
			if res.StatusCode != http.StatusOK || programtest.Decode(t, body).Count < 40 {
				t.Fatalf("round %d: %d %.200s", round, res.StatusCode, body)
			}
			answers++
			<-time.After(10 * time.Millisecond)
		}
		res, _ := programtest.Ask(t, fmt.Sprintf("%s/api/users/unknown-%d", o.Base, round))
		if reads[res.StatusCode]++; res.StatusCode != http.StatusNotFound &&
			res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("round %d: a person read from the store: %d", round, res.StatusCode)
		}
		if rng.IntN(5) == 0 {
			o.Network.Set(mongotest.Fault{})
			o.UntilServed(t)
		}
	}
	o.Network.Set(mongotest.Fault{})
	o.UntilServed(t)
	o.Until(t, "")
	t.Logf("%d faults, %d lists answered, statuses of reads from the store: %v", rounds, answers, reads)
}

// TestStartWhileStoreAway kills a program, takes its store away and starts it again: it serves from
// its snapshot files, and catches up when the store is back.
func TestStartWhileStoreAway(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t)
	dir := t.TempDir()
	programtest.Setenv(dir, programtest.SnapshotEnv, "files")
	o := programtest.StartOutage(t, dir, uri)
	o.UntilServed(t)
	o.Ready()
	for _, name := range []string{"activities", "spectrum"} { // the program writes files one by one
		programtest.Await(t, "the file of "+name+" is written", func() string {
			_, err := os.Stat(snapfile.Path(filepath.Join(o.Cmd.Dir, "files"), name))
			return programtest.Unless(err == nil)
		})
	}
	outer := t // programs outlive the subtest that starts them
	for name, fault := range map[string]mongotest.Fault{"refused": {Refuse: true}, "hanging": {Hang: true}} {
		t.Run(name, func(t *testing.T) {
			_, before := programtest.Ask(t, o.Base+programtest.Listed)
			if code := o.Stop(); code != 0 { // writes the remaining files
				t.Errorf("SIGTERM: exit code %d", code)
			}
			o.Network.Set(fault)
			o.Add(t)
			o.Start(outer, o.Cmd.Dir)
			o.Ready()
			o.IsServing(t, before)
			o.Kill()
			o.Start(outer, o.Cmd.Dir)
			o.Ready()
			o.Network.Set(mongotest.Fault{})
			o.UntilServed(t)
			o.Until(t, "")
		})
	}
}

// TestCorruptedStore changes bytes of the store's answers on their way, so that hardly one arrives
// unchanged: the program's answers stay the same.
func TestCorruptedStore(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t)
	direct := programtest.Reach(t, uri)
	o := &programtest.Outage{Direct: direct, Network: mongotest.NewProxy(t, uri)}
	for range 40 {
		o.Add(t)
	}
	dir := t.TempDir()
	programtest.WriteLines(t, filepath.Join(dir, "v.yml"), programtest.OutageConfig)
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_LEASE", "1m") // no second run in case this one loses a short lease
	programtest.Run(t, dir, "materialize", "--config", "v.yml", "--store", uri+"institute")
	o.Start(t, dir, "--no-materialize")
	o.UntilServed(t)
	o.Ready()
	_, before := programtest.Ask(t, o.Base+programtest.Listed)
	for range 4 {
		o.Network.Set(mongotest.Fault{Reply: corrupted})
		o.Network.Cut()
		o.Until(t, "degraded")
		for range 100 {
			if res, body := programtest.Ask(t, o.Base+programtest.Listed); res.StatusCode != http.StatusOK ||
				body != before {
				t.Fatalf("list: %d, %d bytes instead of %d", res.StatusCode, len(body), len(before))
			}
		}
		o.Network.Set(mongotest.Fault{})
		o.Network.Cut()
		o.Until(t, "")
	}
	if code := o.Stop(); code != 0 || strings.Contains(o.Log(), "panic") {
		t.Errorf("exit code %d\n%s", code, o.Log())
	}
}

// cutAfter breaks a connection in the middle of the first answer with more bytes.
func cutAfter(bytes int) mongotest.Fault {
	return mongotest.Fault{Reply: func(message []byte) []byte { return message[:min(len(message), bytes)] }}
}

// corrupted changes bytes of a message, but not its length, since a message with a wrong length
// only looks endless.
func corrupted(message []byte) []byte {
	for i := 4; i < len(message); i++ {
		if rand.Float64() < 0.05 {
			message[i] ^= byte(1 + rand.IntN(255))
		}
	}
	return message
}

// TestLooksWhenTheStoreIsBack: a front end that polls rarely loads its views as soon as the store
// is back.
func TestLooksWhenTheStoreIsBack(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t)
	dir := t.TempDir()
	programtest.Setenv(dir, "VITRINE_VIEWS_POLL", "1h")
	programtest.Run(t, dir, "materialize", "--store", uri+"institute")
	network := mongotest.NewProxy(t, uri)
	network.Set(mongotest.Fault{Refuse: true})
	s := programtest.Start(t, dir, "--store", network.URI()+"institute", "--no-materialize")
	programtest.Await(t, "the store is away",
		func() string { return programtest.Unless(strings.Contains(s.Log(), "store unavailable")) })
	network.Set(mongotest.Fault{})
	s.Ready()
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}
