package lists

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// decisions is a file of rules for --accept: what a person decides about differences from the recorded OSIRIS that no
// rule of docs/osiris.md covers.
const decisions = "../testdata/rehearsal.yaml"

// rehearsed has what a test reads of a report.
type rehearsed struct {
	Total struct {
		Asked, Agree, Differ, Failed, Forwarded int
		Purpose                                 int `json:"on_purpose"`
	}
	Causes []struct {
		Answers      int
		Reason, Says string
		Places       []struct{ Examples []struct{ Target string } }
	}
}

// TestRehearsal compares 358 paths of a real OSIRIS with a server that has the same database, and that forwards what it
// has no route for. Beyond the rules of docs/osiris.md nothing differs but what a person has to decide. The file
// testdata/rehearsal.yaml has all such decisions, and none that nothing needs.
func TestRehearsal(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir, old, new := startRehearsal(t)
	programtest.WriteLines(t, filepath.Join(dir, "key"), osiristest.RecordedKey)
	programtest.WriteLines(t, filepath.Join(dir, "log"), osiristest.RecordedPaths(t)...)
	accept, err := filepath.Abs(decisions)
	if err != nil {
		t.Fatal(err)
	}
	r, code := rehearse(t, dir, "--accept", accept, "--old", old, "--new", new)

	reasons := map[string]int{}
	var table strings.Builder
	fmt.Fprintf(&table, "%+v\n", r.Total)
	for _, cause := range r.Causes {
		if cause.Reason == "" {
			t.Errorf("%d answers: %s: %v", cause.Answers, cause.Says, cause.Places)
		}
		reasons[cause.Reason] = cause.Answers
		fmt.Fprintf(&table, "%d answers: %s\n", cause.Answers, cause.Reason)
	}
	if r.Total.Asked != 358 || r.Total.Differ+r.Total.Failed > 0 || code != 0 {
		t.Errorf("%+v, exit code %d", r.Total, code)
	}
	text, err := os.ReadFile(decisions)
	if err != nil {
		t.Fatal(err)
	}
	var rules []struct{ Reason string }
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		if reasons[rule.Reason] == 0 {
			t.Errorf("nothing needs the decision %q", rule.Reason)
		}
	}
	golden(t, "rehearsal.golden", table.String())
	plantMistakes(t, old, new)
}

// startRehearsal starts the recorded OSIRIS and a server with the same database, in whose folder commands may run.
func startRehearsal(t *testing.T) (dir, old, new string) {
	t.Helper()
	dir = t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	osiristest.WriteDatabase(t, data)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", data)
	old = osiristest.Replay(t)
	programtest.Setenv(dir, "VITRINE_UPSTREAM_URL", old)
	return dir, old, programtest.Start(t, dir, "--store", "bolt://v.db", "--preset", "osiris").Ready().Base
}

// rehearse runs the command over the log, and returns its report and exit code.
func rehearse(t *testing.T, dir string, args ...string) (r rehearsed, code int) {
	t.Helper()
	cmd := programtest.Command(dir, append([]string{
		"compare", "--json", "--rate", "0", "--old-key", "key", "--new-key", "key", "log",
	}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the code says how it ended
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return r, cmd.ProcessState.ExitCode()
}
