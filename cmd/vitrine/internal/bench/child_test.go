package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"vitrine/rules/leaktest"
)

// roleEnv makes the test binary run as a child.
const roleEnv = "VITRINE_TEST_CHILD"

// texts has the methods that the tests' children offer.
type texts struct{}

func (texts) Upper(text string, upper *string) error {
	switch text {
	case "fail":
		return errors.New("no such text")
	case "die":
		os.Exit(3)
	}
	*upper = strings.ToUpper(text)
	return nil
}

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		if err := Serve(os.Stdin, os.Stdout, "here:1", texts{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}

func start(t *testing.T, ctx context.Context) *child {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"=1"), os.Stderr
	p, err := startChild(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCall(t *testing.T) {
	p := start(t, t.Context())
	if p.addr != "here:1" || p.began.IsZero() {
		t.Errorf("address %q, began at %v", p.addr, p.began)
	}
	var got string
	for _, text := range []string{"words", "more words"} {
		if err := p.call("Upper", text, &got); err != nil || got != strings.ToUpper(text) {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if used := p.processorTime(); runtime.GOOS == "linux" && used <= 0 {
		t.Errorf("the child used %s of processor time", used)
	}
	if err := p.call("Upper", "fail", &got); err == nil || !strings.Contains(err.Error(), "no such text") {
		t.Errorf("the child's error: %v", err)
	}
	if err := p.close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := p.call("Upper", "words", &got); err == nil {
		t.Error("a call after close: no error")
	}
}

func TestChildThatDies(t *testing.T) {
	p := start(t, t.Context())
	if err := p.call("Upper", "die", new(string)); err == nil {
		t.Error("the call that killed it: no error")
	}
	if err := p.close(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("close: %v", err)
	}
}

func TestContextEndsAChild(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := start(t, ctx)
	cancel()
	var err error
	for err == nil { // the child may answer before the signal arrives
		err = p.call("Upper", "words", new(string))
	}
	_ = p.close() // reports that the child was killed
}

func TestStartFails(t *testing.T) {
	if _, err := startChild(exec.Command("/no/such/program")); err == nil {
		t.Error("no error")
	}
}
