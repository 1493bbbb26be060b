package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// grace is how long a child may take to end after it was interrupted. After it, package exec kills the child.
const grace = 20 * time.Second

// child is one side of a measurement in a process of its own. It reads calls in JSON-RPC from its standard input and
// writes the replies to its standard output. It never outlives its parent, because then its standard input ends.
type child struct {
	began time.Time // when it was started
	addr  string    // HOST:PORT of its server
	cmd   *exec.Cmd
	calls *rpc.Client
}

// pipe joins the two directions of a connection. net/rpc wants one connection that it can read, write and close.
type pipe struct {
	io.Reader
	io.WriteCloser
}

// service is the name of what a child offers to its parent.
const service = "Child"

// startChild starts a child, which the caller must close. It is interrupted when cmd's context ends.
//
// A child writes its address first, and only then answers calls, so the decoder and the client read from the pipe
// one after the other. Its errors go to this process's standard error.
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
	err = json.NewDecoder(out).Decode(&c.addr)
	c.calls = jsonrpc.NewClient(pipe{out, in})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("child %d: %w", cmd.Process.Pid, err), c.close())
	}
	return c, nil
}

// call calls a method of the child and waits for its reply. The error names the method and the process.
func (c *child) call(method string, args, reply any) error {
	if err := c.calls.Call(service+"."+method, args, reply); err != nil {
		return fmt.Errorf("%s of child %d: %w", method, c.cmd.Process.Pid, err)
	}
	return nil
}

// processorTime returns the user and system time that the child has used; 0 if the system does not report it. It
// sums the threads, because /proc/PID/schedstat has the first one only. Schedstat counts nanoseconds, where
// /proc/PID/stat counts ticks of ten milliseconds.
func (c *child) processorTime() (used time.Duration) {
	threads, _ := procfs.AllThreads(c.cmd.Process.Pid) // only on Linux
	for _, t := range threads {
		if s, err := t.Schedstat(); err == nil {
			used += time.Duration(s.RunningNanoseconds)
		}
	}
	return used
}

// ownMemory returns a process's resident memory without file pages, in bytes; 0 if the system does not report it.
// Pages of mapped files do not count: the system can drop them at any time.
func ownMemory(pid int) int64 {
	if p, err := procfs.NewProc(pid); err == nil { // only on Linux
		if status, err := p.NewStatus(); err == nil {
			return int64(status.RssAnon)
		}
	}
	return 0
}

// close closes the child's input and waits until the child has ended.
func (c *child) close() error {
	if err := errors.Join(c.calls.Close(), c.cmd.Wait()); err != nil {
		return fmt.Errorf("child %d: %w", c.cmd.Process.Pid, err)
	}
	return nil
}

// Serve runs in a child: it writes its address, and answers calls of methods as net/rpc does, until in ends. It
// returns nil when the parent has closed the other end, which is how a child is stopped.
func Serve(in io.Reader, out io.WriteCloser, addr string, methods any) error {
	server := rpc.NewServer()
	if err := errors.Join(server.RegisterName(service, methods), json.NewEncoder(out).Encode(addr)); err != nil {
		return err
	}
	server.ServeCodec(jsonrpc.NewServerCodec(pipe{in, out}))
	return nil
}
