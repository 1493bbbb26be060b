package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// roleEnv makes the test binary be a process.
const roleEnv = "VITRINE_TEST_CHILD"

// echo is the service of the tests' children.
type echo struct{}

func (echo) Upper(s string, reply *string) error {
	*reply = strings.ToUpper(s)
	return nil
}

func (echo) Nothing(_ struct{}, _ *struct{}) error { return nil }

func (echo) Fail(s string, _ *string) error { return errors.New(s) }

func (echo) Die(_ struct{}, _ *struct{}) error {
	os.Exit(3)
	return nil
}

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		if err := Serve(context.Background(), os.Stdin, os.Stdout, "here:1", echo{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m,
		// What fasthttp leaves behind: it notices some time later that it is done.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*Client).mCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*TCPDialer).tcpAddrsClean"))
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
	var got string
	if err := p.call("Upper", "words", &got); err != nil || got != "WORDS" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := p.call("Nothing", struct{}{}, &struct{}{}); err != nil {
		t.Errorf("without arguments and reply: %v", err)
	}
	if err := p.call("Missing", struct{}{}, &struct{}{}); err == nil {
		t.Error("a method that the service does not have: no error")
	}
	if err := p.call("Fail", "no", &got); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("a method's error: %v", err)
	}
	if err := p.close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if p.began.IsZero() {
		t.Error("it began at no time")
	}
	if err := p.call("Upper", "words", &got); err == nil {
		t.Error("a call after Close: no error")
	}
}

func TestAChildThatDies(t *testing.T) {
	p := start(t, t.Context())
	if err := p.call("Die", struct{}{}, &struct{}{}); err == nil {
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
	if err := p.call("Upper", "words", new(string)); err == nil {
		// It may have answered before the signal came; then the pipe ends with it.
		for err == nil {
			err = p.call("Upper", "words", new(string))
		}
	}
	_ = p.close() // it was killed, and says so
}

func TestStartFails(t *testing.T) {
	if _, err := startChild(exec.Command("/no/such/program")); err == nil {
		t.Error("no error")
	}
}

func TestServeEndsWithItsInputAndWithItsContext(t *testing.T) {
	in, parentOut := io.Pipe()
	parentIn, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), in, out, "here:1", echo{}) }()
	var addr, got string
	if _, err := fmt.Fscanln(parentIn, &addr); err != nil || addr != "here:1" {
		t.Errorf("address %q, %v", addr, err)
	}
	client := rpc.NewClient(both{parentIn, parentOut})
	if err := client.Call("Child.Upper", "a", &got); err != nil || got != "A" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	in, parentOut = io.Pipe()
	parentIn, out = io.Pipe()
	go func() { served <- Serve(ctx, in, out, "here:1", echo{}) }()
	if _, err := fmt.Fscanln(parentIn, &addr); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	_ = parentOut.Close() // lets the reader go that Serve had to leave behind
}

// both is a connection of two pipes.
type both struct {
	*io.PipeReader
	*io.PipeWriter
}

func (b both) Close() error { return errors.Join(b.PipeWriter.Close(), b.PipeReader.Close()) }

// TestServeRefuses: a service must have a method that can be called.
func TestServeRefuses(t *testing.T) {
	in, out := io.Pipe()
	if err := Serve(t.Context(), in, out, "here:1", struct{}{}); err == nil {
		t.Error("a service without methods is served")
	}
}
