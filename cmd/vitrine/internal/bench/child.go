package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// grace is the time a child has to end when it is interrupted.
const grace = 20 * time.Second

// child is one side of a measurement in a process of its own, which offers a service over its
// standard input and output. It never outlives its parent, since its standard input ends then.
type child struct {
	began  time.Time // when it was started
	addr   string    // HOST:PORT where it serves
	cmd    *exec.Cmd
	client *rpc.Client
}

// startChild starts a child, which is to be closed; when the command's context ends, the child is
// interrupted, and calls fail.
func startChild(cmd *exec.Cmd) (*child, error) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay, cmd.Stderr = grace, os.Stderr
	in, failed := cmd.StdinPipe()
	out, err := cmd.StdoutPipe()
	c := &child{began: time.Now(), cmd: cmd}
	if err = errors.Join(failed, err); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	_, failed = fmt.Fscanln(out, &c.addr)
	c.client = rpc.NewClient(pipes{out, in})
	if failed != nil {
		return nil, errors.Join(fmt.Errorf("child %d: %w", cmd.Process.Pid, failed), c.close())
	}
	return c, nil
}

// call calls a method of the child's service.
func (c *child) call(method string, args, reply any) error {
	if err := c.client.Call("Child."+method, args, reply); err != nil {
		return fmt.Errorf("%s of child %d: %w", method, c.cmd.Process.Pid, err)
	}
	return nil
}

// close ends the child's input and waits until the child has ended.
func (c *child) close() error {
	err := c.client.Close()
	if errors.Is(err, rpc.ErrShutdown) {
		err = nil // the child has ended already; Wait says how
	}
	if err = errors.Join(err, c.cmd.Wait()); err != nil {
		return fmt.Errorf("child %d: %w", c.cmd.Process.Pid, err)
	}
	return nil
}

// Serve is what a child does: it tells the parent where it serves, and offers the methods of a
// service, in the form that net/rpc asks for, until in or ctx ends. The reading of a standard input
// cannot be interrupted: if ctx ends first, a goroutine is left that ends with the process.
func Serve(ctx context.Context, in io.Reader, out io.WriteCloser, addr string, service any) error {
	server := rpc.NewServer()
	if err := server.RegisterName("Child", service); err != nil {
		return fmt.Errorf("offer service: %w", err)
	}
	if _, err := fmt.Fprintln(out, addr); err != nil {
		return err
	}
	ended := make(chan struct{})
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

// pipes are an end of the two pipes. Closing it closes what it writes to alone, which is what the
// other end waits for: a child that still replies would die of an output that is gone.
type pipes struct {
	io.Reader
	io.WriteCloser
}
