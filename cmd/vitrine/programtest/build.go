package programtest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// root is the folder of the module. Tests run in the folder of their package, one below this one.
var root = filepath.Join("..", "..", "..", "..")

// binary is the test binary of the program, which can do some things in smaller steps.
var binary string

// Main builds the program and runs the tests of a package. It is the TestMain of the packages below this one.
//
// The packages below are processes of their own, which go test runs beside each other.
func Main(m *testing.M) {
	alone()
	// Tests mostly wait for processes, so that more go on at a time than there are processors.
	flag.Parse()
	if n := flag.Lookup("test.parallel"); n.Value.String() == n.DefValue {
		_ = n.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0)))
	}
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// build makes the binary, with the race detector if the tests run under it. The packages share one file: the go
// command leaves it as it is if it is up to date, and replaces it by a new file while programs run the old one. Two
// go commands at a time would both link it, so each package waits for the lock.
func build() (err error) {
	name, args := "vitrine", []string{"test", "-c", "-ldflags=-s -w"}
	info, _ := debug.ReadBuildInfo()
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		name, args = "vitrine-race", append(args, "-race")
	}
	dir, err := filepath.Abs(filepath.Join(root, "build", "programtest"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	binary = filepath.Join(dir, name)
	lock, err := os.Create(binary + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // which releases it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	args = append(args, "-o", binary, "vitrine/cmd/vitrine")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, out)
	}
	return watchSources()
}

// watchSources opens all folders of the source: go test keeps a result until one of the files changes that the test
// opened.
//
// Without it, go test would report a kept result after a change of the program, since the tests import none of it.
func watchSources() error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && path != root
		if err == nil && d.IsDir() && (hidden || path == filepath.Join(root, "build")) {
			return fs.SkipDir
		}
		return err
	})
}
