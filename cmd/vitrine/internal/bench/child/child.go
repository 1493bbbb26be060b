// Package child runs parts of a measurement in processes of their own: the same
// program started again, which offers a service to its parent over its standard
// input and output.
//
//	parent: Start ──starts──▶ child: Serve
//	        Call  ──request on stdin, reply on stdout──▶ a method of the service
//	        Close ──end of stdin──▶ Serve returns, the child ends
//
// A child never outlives its parent: when the parent is gone, however it went, the
// child's input ends. Calls may overlap. What is called must have the form that
// net/rpc asks of methods.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// name is what the one service of a child goes by.
const name = "Child"

// grace is how long a child that was asked to end may take.
const grace = 20 * time.Second

// Command says how to start a child.
type Command struct {
	Path   string
	Args   []string
	Env    []string  // if nil, the parent's
	Stderr io.Writer // if nil, discarded
}

// Process is a running child. Its methods are safe for concurrent use.
type Process struct {
	cmd    *exec.Cmd
	client *rpc.Client
	began  time.Time
	close  sync.Once
	err    error // of closing
}

// Start starts a child; when ctx ends, the child is interrupted. Close it when done.
func Start(ctx context.Context, c Command) (*Process, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env, cmd.Stderr = c.Env, c.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	p := &Process{cmd: cmd, began: time.Now()}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	p.client = rpc.NewClient(parentEnd{out, in})
	return p, nil
}

// Began returns when the process was started.
func (p *Process) Began() time.Time { return p.began }

// ID is the process's number.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Call calls a method of the child's service and returns its error, or ctx's should
// that end first; then the reply must not be used.
func (p *Process) Call(ctx context.Context, method string, args, reply any) error {
	call := p.client.Go(name+"."+method, args, reply, make(chan *rpc.Call, 1))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-call.Done:
		if call.Error != nil {
			return fmt.Errorf("%s of child %d: %w", method, p.cmd.Process.Pid, call.Error)
		}
		return nil
	}
}

// Close ends the child's input and waits until the child has ended. It may be
// called again.
func (p *Process) Close() error {
	p.close.Do(func() {
		if err := p.client.Close(); err != nil && !errors.Is(err, rpc.ErrShutdown) {
			p.err = err
		}
		if err := p.cmd.Wait(); err != nil {
			p.err = errors.Join(p.err, fmt.Errorf("child %d: %w", p.cmd.Process.Pid, err))
		}
	})
	return p.err
}

// Serve offers a service's methods to the parent, until in ends or ctx does. The
// reading of a standard input cannot be interrupted: if ctx ends first, Serve
// leaves a goroutine behind that ends with the process.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, service any) error {
	server := rpc.NewServer()
	if err := server.RegisterName(name, service); err != nil {
		return fmt.Errorf("offer service: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.ServeConn(childEnd{in, out})
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return nil
}

// parentEnd is the parent's end of the two pipes. Closing it closes the child's input
// alone: a child that is still replying must not find its output gone, which would
// kill it. The output ends with the child.
type parentEnd struct {
	io.Reader
	io.WriteCloser
}

// childEnd is the child's end.
type childEnd struct {
	io.ReadCloser
	io.WriteCloser
}

// Close implements io.Closer.
func (c childEnd) Close() error { return errors.Join(c.WriteCloser.Close(), c.ReadCloser.Close()) }
