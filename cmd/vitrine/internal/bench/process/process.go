// Package process runs the two sides of a measurement, each in a process of its own: the
// same program started again, which offers a service to the measuring process over its
// standard input and output.
//
//	measuring process                          child
//	Start ────────starts────────────────────▶ Serve(Serving) or Serve(Bare)
//	Call  ──request on stdin, reply on stdout──▶ a method of the service
//	Close ──────end of stdin─────────────────▶ Serve returns, the child ends
//
// Serving is the front end under measurement, Bare the handler that it is compared with.
// A child never outlives its parent, since its standard input ends with the parent.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os/exec"
	"syscall"
	"time"
)

// serviceName is the name of the one service of a child.
const serviceName = "Child"

// grace is the time a child has to end when it is interrupted.
const grace = 20 * time.Second

// None is for calls without arguments or without a reply.
type None = struct{}

// Process is a running child. Its calls are safe for concurrent use.
type Process struct {
	Began time.Time // when it was started

	cmd    *exec.Cmd
	client *rpc.Client
}

// Start starts a child; when the command's context ends, the child is interrupted, and calls
// fail. Close it when done.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	began := time.Now()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	return &Process{Began: began, cmd: cmd, client: rpc.NewClient(pipes{out, in})}, nil
}

// Call calls a method of the child's service. args and reply may be nil.
func (p *Process) Call(method string, args, reply any) error {
	if args == nil {
		args = None{}
	}
	if reply == nil {
		reply = &None{}
	}
	if err := p.client.Call(serviceName+"."+method, args, reply); err != nil {
		return fmt.Errorf("%s of child %d: %w", method, p.cmd.Process.Pid, err)
	}
	return nil
}

// Close ends the child's input and waits until the child has ended.
func (p *Process) Close() error {
	err := p.client.Close()
	if errors.Is(err, rpc.ErrShutdown) {
		err = nil // the child has ended already; Wait says how
	}
	if err = errors.Join(err, p.cmd.Wait()); err != nil {
		return fmt.Errorf("child %d: %w", p.cmd.Process.Pid, err)
	}
	return nil
}

// Serve offers a service's methods, in the form that net/rpc asks for, to the parent until
// in or ctx ends. The reading of a standard input cannot be interrupted: if ctx ends first,
// Serve leaves a goroutine behind that ends with the process.
func Serve(ctx context.Context, in io.Reader, out io.WriteCloser, service any) error {
	server := rpc.NewServer()
	if err := server.RegisterName(serviceName, service); err != nil {
		return fmt.Errorf("offer service: %w", err)
	}
	ended := make(chan None)
	go func() {
		defer close(ended)
		server.ServeConn(pipes{in, out})
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}

// endpoint is the method that both services have.
type endpoint struct{ addr string }

// Address replies HOST:PORT.
func (e endpoint) Address(_ None, reply *string) error {
	*reply = e.addr
	return nil
}

// pipes are an end of the two pipes. Closing it closes what it writes to alone, which is what
// the other end waits for. A child that is still replying must not find its output gone, which
// would kill it: the output ends with the child.
type pipes struct {
	io.Reader
	io.WriteCloser
}
