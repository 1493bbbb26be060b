package backup

import "golang.org/x/sys/unix"

// freeSpace returns how many bytes this process may still write to the file system of a folder.
func freeSpace(dir string) (bytes uint64, known bool) {
	var at unix.Statfs_t
	if err := unix.Statfs(dir, &at); err != nil || at.Bsize <= 0 {
		return 0, false
	}
	return at.Bavail * uint64(at.Bsize), true
}
