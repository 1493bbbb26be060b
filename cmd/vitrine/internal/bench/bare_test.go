package bench

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"testing"

	"github.com/gofiber/fiber/v2"
)

// front serves a few answers for the bare server to copy.
func front(t *testing.T) string {
	t.Helper()
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/plain", func(c *fiber.Ctx) error {
		c.Set("ETag", `"1"`)
		c.Set("Content-Encoding", "test")
		c.Set("Cache-Control", "public, max-age=60")
		if c.Get("If-None-Match") == `"1"` {
			return c.SendStatus(fiber.StatusNotModified)
		}
		return c.Type("json").SendString(`{"data":[]}`)
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Listener(ln) }()
	t.Cleanup(func() {
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return ln.Addr().String()
}

func TestCopy(t *testing.T) {
	addr := front(t)
	in, questions := io.Pipe()
	replies, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- ServeBare(in, out) }()
	s := &child{cmd: &exec.Cmd{Process: &os.Process{}}}
	if err := json.NewDecoder(replies).Decode(&s.addr); err != nil {
		t.Fatal(err)
	}
	s.calls = jsonrpc.NewClient(pipe{replies, questions})
	defer func() {
		if err := errors.Join(s.calls.Close(), <-served); err != nil {
			t.Error(err)
		}
	}()
	tests := []struct {
		name     string
		header   map[string]string
		status   int
		body     string
		encoding string
	}{
		{"an answer", nil, 200, `{"data":[]}`, "test"},
		{"not modified", map[string]string{"If-None-Match": `"1"`}, 304, "", "test"},
	}
	for _, tt := range tests {
		var a Copied
		if err := s.call("Copy", Copy{Addr: addr, Path: "/plain", Header: tt.header}, &a); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if a.ETag != `"1"` || !a.Held {
			t.Errorf("%s: copied %+v", tt.name, a)
		}
		res, err := http.Get("http://" + s.addr + "/whatever?x=1")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != tt.status || string(body) != tt.body {
			t.Errorf("%s: sends %d %q, %v", tt.name, res.StatusCode, body, err)
		}
		if res.Header.Get("Content-Encoding") != tt.encoding ||
			res.Header.Get("Cache-Control") != "public, max-age=60" || res.Header.Get("ETag") != `"1"` {
			t.Errorf("%s: header %v", tt.name, res.Header)
		}
	}
	if err := s.call("Copy", Copy{Addr: addr, Path: "/missing"}, new(Copied)); err == nil {
		t.Error("an error was copied")
	}
}
