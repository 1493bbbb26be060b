package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// SocketOf returns the path of the control socket of a store, given the path of its file.
func SocketOf(store string) string { return store + ".sock" }

// maxPath is the length of a path, in bytes, that every system accepts for a socket.
const maxPath = 100

// withShortPath calls do with a path of a file that is short enough for a socket. For a longer path it opens the
// folder and names it by its descriptor, below Linux's /proc.
func withShortPath(dir, name string, do func(path string) error) error {
	full := filepath.Join(dir, name)
	if len(full) <= maxPath {
		return do(full)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), name))
}

// listen opens the control socket of a store. The caller has the store open, so no process listens on a socket that
// exists already.
func listen(store string) (l net.Listener, err error) {
	path := SocketOf(store)
	if at, err := os.Lstat(path); err == nil && at.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("%s: a file that is not a socket has this name", path)
	}
	private, err := os.MkdirTemp(filepath.Dir(path), ".vitrine-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	const name = "socket"
	err = withShortPath(private, name, func(short string) error {
		opened, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		if err == nil {
			opened.SetUnlinkOnClose(false) // it has another name by then
			l = opened
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	made := filepath.Join(private, name)
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// dial connects to the socket of a store.
func dial(ctx context.Context, store string) (conn net.Conn, err error) {
	path := SocketOf(store)
	err = withShortPath(filepath.Dir(path), filepath.Base(path), func(short string) (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", short)
		return err
	})
	// The path in the error may have a descriptor in it, which says nothing to an operator.
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = fmt.Errorf("%s: %w", path, failed.Err)
	}
	return conn, err
}
