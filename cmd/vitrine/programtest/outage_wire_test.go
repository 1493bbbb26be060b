package programtest

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
			o := startOutage(t, t.TempDir(), ferret.URI)
			o.untilServed(t)
			o.ready()
			o.until(t, "")
			_, before := ask(t, o.base+listed)
			o.network.Set(tt.fault)
			if tt.restart {
				ferret.Kill()
			}
			if tt.vanish {
				o.network.Abandon()
			}
			o.until(t, "degraded")
			o.isServing(t, before)
			o.isToldOf(t)
			o.isLeftAlone(t)
			if tt.restart {
				ferret = mongotest.StartIn(t, files)
				o.direct = reach(t, ferret.URI)
				o.network.Switch(ferret.URI)
			}
			o.add(t)
			o.network.Set(mongotest.Fault{})
			o.untilServed(t)
			o.until(t, "")
			await(t, "a person is read from the store afterwards", func() string {
				res, body := ask(t, o.base+"/api/users/unknown-"+strings.ReplaceAll(tt.name, " ", "-"))
				if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusServiceUnavailable {
					t.Fatalf("a person read from the store afterwards: %d %s", res.StatusCode, body)
				}
				return unless(res.StatusCode == http.StatusNotFound) // the store may be slow, too
			})
			o.untilMarked(t, false)
		})
	}
}

// TestStopWhileStoreHangs: a program that waits for its store ends on SIGTERM.
func TestStopWhileStoreHangs(t *testing.T) {
	t.Parallel()
	o := startOutage(t, t.TempDir(), mongotest.Start(t))
	o.untilServed(t)
	o.ready()
	o.network.Set(mongotest.Fault{Hang: true})
	o.until(t, "degraded")
	if code := o.stop(); code != 0 {
		t.Errorf("SIGTERM while the store hangs: exit code %d\n%s", code, o.logged())
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
	o := startOutage(t, t.TempDir(), mongotest.Start(t))
	o.untilServed(t)
	o.ready()
	rng := rand.New(rand.NewPCG(11, 13))
	answers, reads := 0, map[int]int{}
	for round := range rounds {
		faults := []mongotest.Fault{
			{Refuse: true}, {Reset: true}, {Hang: true}, {Delay: 200 * time.Millisecond}, {Delay: 3 * time.Second},
			cutAfter(1 + rng.IntN(20_000)), {},
		}
		o.network.Set(faults[rng.IntN(len(faults))])
		if rng.IntN(4) == 0 {
			o.network.Abandon()
		}
		o.add(t)
		for range rng.IntN(300) {
			res, body := ask(t, o.base+listed)
			if res.StatusCode != http.StatusOK || decode(t, body).Count < 40 {
				t.Fatalf("round %d: %d %.200s", round, res.StatusCode, body)
			}
			answers++
			<-time.After(10 * time.Millisecond)
		}
		res, _ := ask(t, fmt.Sprintf("%s/api/users/unknown-%d", o.base, round))
		if reads[res.StatusCode]++; res.StatusCode != http.StatusNotFound &&
			res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("round %d: a person read from the store: %d", round, res.StatusCode)
		}
		if rng.IntN(5) == 0 {
			o.network.Set(mongotest.Fault{})
			o.untilServed(t)
		}
	}
	o.network.Set(mongotest.Fault{})
	o.untilServed(t)
	o.until(t, "")
	t.Logf("%d faults, %d lists answered, statuses of reads from the store: %v", rounds, answers, reads)
}

// TestStartWhileStoreAway kills a program, takes its store away and starts it again: it serves from
// its snapshot files, and catches up when the store is back.
func TestStartWhileStoreAway(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t)
	dir := t.TempDir()
	set(dir, snapshots, "files")
	o := startOutage(t, dir, uri)
	o.untilServed(t)
	o.ready()
	for _, name := range []string{"activities", "spectrum"} { // the program writes files one by one
		await(t, "the file of "+name+" is written", func() string {
			_, err := os.Stat(snapfile.Path(filepath.Join(o.cmd.Dir, "files"), name))
			return unless(err == nil)
		})
	}
	outer := t // programs outlive the subtest that starts them
	for name, fault := range map[string]mongotest.Fault{"refused": {Refuse: true}, "hanging": {Hang: true}} {
		t.Run(name, func(t *testing.T) {
			_, before := ask(t, o.base+listed)
			if code := o.stop(); code != 0 { // writes the remaining files
				t.Errorf("SIGTERM: exit code %d", code)
			}
			o.network.Set(fault)
			o.add(t)
			o.start(outer, o.cmd.Dir)
			o.ready()
			o.isServing(t, before)
			o.kill()
			o.start(outer, o.cmd.Dir)
			o.ready()
			o.network.Set(mongotest.Fault{})
			o.untilServed(t)
			o.until(t, "")
		})
	}
}

// TestCorruptedStore changes bytes of the store's answers on their way, so that hardly one arrives
// unchanged: the program's answers stay the same.
func TestCorruptedStore(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t)
	direct := reach(t, uri)
	o := &outage{direct: direct, network: mongotest.NewProxy(t, uri)}
	for range 40 {
		o.add(t)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "v.yml"), outageConfig)
	set(dir, "VITRINE_MATERIALIZE_LEASE", "1m") // no second run in case this one loses a short lease
	vitrine(t, dir, "materialize", "--config", "v.yml", "--store", uri+"institute")
	o.start(t, dir, "--no-materialize")
	o.untilServed(t)
	o.ready()
	_, before := ask(t, o.base+listed)
	for range 4 {
		o.network.Set(mongotest.Fault{Reply: corrupted})
		o.network.Cut()
		o.until(t, "degraded")
		for range 100 {
			if res, body := ask(t, o.base+listed); res.StatusCode != http.StatusOK || body != before {
				t.Fatalf("list: %d, %d bytes instead of %d", res.StatusCode, len(body), len(before))
			}
		}
		o.network.Set(mongotest.Fault{})
		o.network.Cut()
		o.until(t, "")
	}
	if code := o.stop(); code != 0 || strings.Contains(o.logged(), "panic") {
		t.Errorf("exit code %d\n%s", code, o.logged())
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
	set(dir, "VITRINE_VIEWS_POLL", "1h")
	vitrine(t, dir, "materialize", "--store", uri+"institute")
	network := mongotest.NewProxy(t, uri)
	network.Set(mongotest.Fault{Refuse: true})
	s := startServer(t, dir, "--store", network.URI()+"institute", "--no-materialize")
	await(t, "the store is away", func() string { return unless(strings.Contains(s.logged(), "store unavailable")) })
	network.Set(mongotest.Fault{})
	s.ready()
	if code := s.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}
