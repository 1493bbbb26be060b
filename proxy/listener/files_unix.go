//go:build unix

package listener

import "syscall"

// openFiles returns how many files the process may open (RLIMIT_NOFILE); 0: unknown.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
