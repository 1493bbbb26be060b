package dump

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// spool is a file system with one file: a copy of standard input, because Load reads twice. Where the system
// permits it, the file has no name, so that the system frees its space, which may be many gigabytes, when an import
// is killed.
type spool struct {
	file  *os.File
	named bool // the file still has its name
}

// Open implements fs.FS. Each file reads from the beginning.
func (s *spool) Open(name string) (fs.File, error) {
	info, err := s.file.Stat()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return spoolReader{io.NewSectionReader(s.file, 0, info.Size()), info}, nil
}

// spoolReader is one reading of a spool.
type spoolReader struct {
	*io.SectionReader
	info fs.FileInfo
}

// Stat implements fs.File.
func (r spoolReader) Stat() (fs.FileInfo, error) { return r.info, nil }

// Close implements fs.File.
func (r spoolReader) Close() error { return nil }

// close removes the copy.
func (s *spool) close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

// spoolStdin copies standard input.
func (d *Dump) spoolStdin(ctx context.Context) error {
	switch {
	case d.opts.Stdin == nil:
		return errors.New("not available")
	case d.spool != nil:
		return errors.New("named twice")
	}
	f, err := os.CreateTemp("", "vitrine-import-*")
	if err != nil {
		return err
	}
	d.spool = &spool{file: f, named: os.Remove(f.Name()) != nil} // Windows keeps the name while the file is open
	most := cmp.Or(d.opts.StdinBytes, DefaultStdinBytes)
	n, err := io.Copy(f,
		io.LimitReader(&counter{Reader: d.opts.Stdin, ended: ctx.Err, each: d.opts.Progress}, most+1))
	if n > most {
		err = fmt.Errorf("does not end within %d bytes: --stdin-bytes allows more", most)
	}
	return err
}
