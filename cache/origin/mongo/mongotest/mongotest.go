// Package mongotest starts a server that speaks MongoDB's wire protocol, for tests
// on a machine without a MongoDB: FerretDB over SQLite, built from the nested
// module testdata/ferretdb beside it.
//
// Building it takes a minute or two, hence the binary is kept in the user's cache
// folder under a digest of the module, and tests use it only if VITRINE_TEST_WIRE=1.
//
// What FerretDB 1.24 cannot do, and tests must not ask of it: write commands of
// 100 or more statements, change streams, transactions, Decimal128, nested arrays,
// dotted field names, $expr.
package mongotest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// EnvWire is the environment variable that turns tests over the wire on.
const EnvWire = "VITRINE_TEST_WIRE"

// BatchSize is how many statements a write command may carry.
const BatchSize = 50

// Start starts a server with an empty state folder and returns its URI, which
// ends in "/" and lacks a database name. The server ends with the test. The test
// is skipped unless VITRINE_TEST_WIRE=1.
func Start(t testing.TB) (uri string) {
	t.Helper()
	return StartIn(t, t.TempDir()).URI
}

// Server is a running server.
type Server struct {
	URI string // ends in "/" and lacks a database name
	cmd *exec.Cmd
}

// StartIn is Start on a state folder that may hold what an earlier server left, which
// must have ended.
func StartIn(t testing.TB, dir string) *Server {
	t.Helper()
	if os.Getenv(EnvWire) != "1" {
		t.Skipf("needs a MongoDB-compatible server: set %s=1 to have one built and started", EnvWire)
	}
	binary, err := build()
	if err != nil {
		t.Fatalf("build test server: %v", err)
	}
	command := exec.Command(binary, "-dir", dir)
	command.Stderr = os.Stderr
	// The server runs until its input ends: with the test, or with this process.
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start test server: %v", err)
	}
	s := &Server{cmd: command}
	t.Cleanup(func() {
		_ = input.Close()
		s.Kill()
	})
	line, err := bufio.NewReader(output).ReadString('\n') // comes once the listener is open
	if err != nil {
		t.Fatalf("test server ended at start: %v", err)
	}
	s.URI = strings.TrimSpace(line)
	return s
}

// Kill is kill -9; it may be called again.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // fails when it has ended, which is as well
	_ = s.cmd.Wait()
}

// build builds the server once per process, and not at all if the cache has it.
var build = sync.OnceValues(func() (string, error) {
	source, err := moduleFolder()
	if err != nil {
		return "", err
	}
	digest, err := digestOf(source)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "vitrine-test")
	binary := filepath.Join(folder, "ferretdb-"+digest)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	// Built aside and renamed, as test processes of other packages may do the same right now.
	fresh, err := os.MkdirTemp(folder, "build")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	command := exec.Command("go", "build", "-o", filepath.Join(fresh, "ferretdb"), ".")
	command.Dir = source
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, output)
	}
	return binary, os.Rename(filepath.Join(fresh, "ferretdb"), binary)
})

// moduleFolder is where the server's module lies: beside this source file's folder.
func moduleFolder() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return "", errors.New("the source folder is not known (built with -trimpath?)")
	}
	return filepath.Join(filepath.Dir(file), "..", "testdata", "ferretdb"), nil
}

// digestOf identifies what is built: the module's files and the toolchain.
func digestOf(folder string) (string, error) {
	hash := sha256.New()
	_, _ = io.WriteString(hash, runtime.Version())
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		_, _ = hash.Write(content)
	}
	return hex.EncodeToString(hash.Sum(nil)[:12]), nil
}
