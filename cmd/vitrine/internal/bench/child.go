package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// grace is how long a child may take to end after it was interrupted.
const grace = 20 * time.Second

// child is one side of a measurement in a process of its own. It reads questions in JSON from its standard input and
// writes the replies to its standard output. It never outlives its parent, because then its standard input ends.
type child struct {
	began   time.Time // when it was started
	addr    string    // HOST:PORT of its server
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies *json.Decoder
}

// reply is the child's answer to a question, or an error. Its first reply is its address.
type reply struct {
	Error  string
	Answer any
}

// startChild starts a child, which the caller must close. When the command's context ends, the
// child is interrupted.
func startChild(cmd *exec.Cmd) (*child, error) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay, cmd.Stderr = grace, os.Stderr
	in, failed := cmd.StdinPipe()
	out, err := cmd.StdoutPipe()
	c := &child{began: time.Now(), cmd: cmd, in: in, replies: json.NewDecoder(out)}
	if err = errors.Join(failed, err); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	if err := c.receive(&c.addr); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// ask sends a question and reads the answer to it.
func (c *child) ask(question, answer any) error {
	if err := json.NewEncoder(c.in).Encode(question); err != nil {
		return fmt.Errorf("child %d: %w", c.cmd.Process.Pid, err)
	}
	return c.receive(answer)
}

// receive reads a reply.
func (c *child) receive(answer any) error {
	r := reply{Answer: answer}
	err := c.replies.Decode(&r)
	if err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	if err != nil {
		return fmt.Errorf("child %d: %w", c.cmd.Process.Pid, err)
	}
	return nil
}

// close closes the child's input and waits until the child has ended.
func (c *child) close() error {
	if err := errors.Join(c.in.Close(), c.cmd.Wait()); err != nil {
		return fmt.Errorf("child %d: %w", c.cmd.Process.Pid, err)
	}
	return nil
}

// Serve runs in a child: it writes its address, and answers the parent's questions until its input ends.
func Serve[Q, A any](in io.Reader, out io.Writer, addr string, answer func(Q) (A, error)) error {
	questions, replies := json.NewDecoder(in), json.NewEncoder(out)
	err := replies.Encode(reply{Answer: addr})
	for err == nil {
		var question Q
		if err = questions.Decode(&question); err != nil {
			break
		}
		a, failed := answer(question)
		r := reply{Answer: a}
		if failed != nil {
			r.Error = failed.Error()
		}
		err = replies.Encode(r)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
