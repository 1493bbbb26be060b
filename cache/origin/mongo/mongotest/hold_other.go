//go:build !linux

package mongotest

// hold returns the address of any free loopback port. Another process may get the port while this one does not
// listen.
func hold() (address string, release func(), err error) { return "127.0.0.1:0", func() {}, nil }
