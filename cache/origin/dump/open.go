package dump

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// From paths to sources: add tells standard input, folders (folder.go) and files apart. addFile opens each file
// once to find its format and collection. What Open skips becomes a note, what it cannot decide an error.

// Options say how paths become sources. The zero value works.
type Options struct {
	// Collection names the collection of a single file. In an archive or folder it selects the only one to import.
	Collection string
	// Database selects the database if a path holds several.
	Database string
	// Stdin is copied to a temporary file for the path "-". If nil, that path is an error.
	Stdin io.Reader
	// StdinBytes is the limit on the bytes of Stdin. If zero, DefaultStdinBytes is used.
	StdinBytes int64
	// Progress, if not nil, is called with the number of bytes read from Stdin.
	Progress func(n int)
}

// DefaultStdinBytes is the default of Options.StdinBytes.
// It protects the disk, where the copy is.
const DefaultStdinBytes = 4 << 30

// Dump is the input of one import.
type Dump struct {
	Sources []Source
	Notes   []string // sentences that say which files Open skipped and why

	opts  Options
	files fs.FS
	spool *spool // nil unless standard input is named
}

// disk opens files by the names that users give.
type disk struct{}

func (disk) Open(name string) (fs.File, error) { return os.Open(name) }

func (disk) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Open finds the sources that paths name: files, folders of files or written by mongodump, and "-" for standard
// input. It reads the beginning of each file. The caller closes the dump.
func Open(ctx context.Context, paths []string, o Options) (*Dump, error) {
	return open(ctx, disk{}, paths, o)
}

// OpenFS is Open for the files of one folder of a file system, such as an embedded one.
func OpenFS(fsys fs.FS, folder string, o Options) (*Dump, error) {
	return open(context.Background(), fsys, []string{folder}, o)
}

func open(ctx context.Context, files fs.FS, paths []string, o Options) (*Dump, error) {
	d := &Dump{opts: o, files: files}
	for _, p := range paths {
		if err := d.add(ctx, p); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	if len(d.Sources) > 0 {
		return d, nil
	}
	err := errors.New("nothing to import")
	if len(d.Notes) > 0 {
		err = fmt.Errorf("nothing to import: %s", strings.Join(d.Notes, "; "))
	}
	return nil, errors.Join(err, d.Close())
}

// Size returns the number of bytes in the files.
func (d *Dump) Size() int64 {
	var n int64
	for i := range d.Sources {
		n += d.Sources[i].Size
	}
	return n
}

// Close removes the copy of standard input.
func (d *Dump) Close() error {
	if d.spool == nil {
		return nil
	}
	return d.spool.close()
}

func (d *Dump) add(ctx context.Context, name string) error {
	if name == "-" {
		if err := d.spoolStdin(ctx); err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		return d.addFile(d.spool, name, name, false)
	}
	info, err := fs.Stat(d.files, name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return d.addFolder(name)
	}
	return d.addFile(d.files, name, name, false)
}

// addFile adds a file after it has read the beginning. name is shown to people, file is the name in files. In a
// folder, Options.Collection selects one file; otherwise it names the file's collection.
func (d *Dump) addFile(files fs.FS, name, file string, inFolder bool) error {
	s := Source{Name: name, files: files, file: file}
	// Refuse devices and pipes, which may never end or never begin. Links to regular files are fine.
	if info, err := fs.Stat(files, file); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file (%s): read it as standard input, import … - <%[1]s", name,
			info.Mode())
	}
	in, err := s.open(context.Background(), nil)
	if err != nil {
		return err
	}
	defer in.file.Close()
	info, err := in.file.Stat()
	if err != nil {
		return err
	}
	s.Size = info.Size()
	base := path.Base(name)
	if s.format = sniff(in.Reader, base); s.format == unknownFormat {
		return fmt.Errorf("%s: neither lines of JSON nor BSON nor an archive of mongodump", name)
	}
	if s.format == archiveFormat {
		return d.addArchive(s, in)
	}
	collection := d.opts.Collection
	if collection == "" || inFolder {
		collection = collectionOf(base, s.format)
	}
	if inFolder && d.opts.Collection != "" && collection != d.opts.Collection {
		return nil
	}
	if name == "-" && collection == "-" {
		return errors.New("standard input: the name of the collection is missing")
	}
	if why := exclusionOf(collection); why != "" {
		d.note("%s: ignored: %s", name, why)
		return nil
	}
	if err := origin.CheckCollection(collection); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.Collections = []string{collection}
	d.Sources = append(d.Sources, s)
	return nil
}

// addArchive adds the collections of one database in an archive. The Source remains one, since the file is read
// once for all of them. An archive without any is not added.
func (d *Dump) addArchive(s Source, in *stream) error {
	promised, err := readPrelude(in)
	if err != nil {
		return err
	}
	var databases []string
	for _, ns := range promised {
		databases = append(databases, ns.database)
	}
	if s.database, err = d.chooseDatabase(s.Name, databases); err != nil {
		return err
	}
	s.only = d.opts.Collection
	for _, ns := range promised {
		if ns.database != s.database || s.only != "" && s.only != ns.collection {
			continue
		}
		switch why, err := exclusionOf(ns.collection), origin.CheckCollection(ns.collection); {
		case why != "":
			d.note("%s: %s: ignored: %s", s.Name, ns.collection, why)
		case err != nil: // skip it: users cannot rename it as they can rename a file, and they want the others
			d.note("%s: ignored: %v", s.Name, err)
		default:
			s.Collections = append(s.Collections, ns.collection)
		}
	}
	if len(s.Collections) > 0 {
		slices.Sort(s.Collections)
		d.Sources = append(d.Sources, s)
	}
	return nil
}

// chooseDatabase decides which of a path's databases to import: the server's own, and the one without a name, where
// an archive has the oplog, only if Options.Database names it.
func (d *Dump) chooseDatabase(path string, databases []string) (string, error) {
	slices.Sort(databases)
	users := slices.DeleteFunc(slices.Compact(slices.Clone(databases)), func(name string) bool {
		return slices.Contains([]string{"", "admin", "config", "local"}, name)
	})
	switch want := d.opts.Database; {
	case want != "" && slices.Contains(databases, want):
		return want, nil
	case want != "":
		return "", fmt.Errorf("%s: holds no database %q, but %s", path, want,
			cmp.Or(strings.Join(users, ", "), "none"))
	case len(users) == 1:
		return users[0], nil
	case len(users) == 0:
		return "", fmt.Errorf("%s: holds only databases of the server's own", path)
	}
	return "", fmt.Errorf("%s: holds several databases, name one of %s", path, strings.Join(users, ", "))
}

// note adds a sentence for the user.
func (d *Dump) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// sniff finds a file's format: an archive by its magic number, others by name or, if that does not tell, by
// content.
// A BSON file begins with its first document's length, so any plausible one counts: the reading checks the rest.
func sniff(in *bufio.Reader, name string) format {
	head, _ := in.Peek(raw.MinDocument) // ignore errors: reading the file reports them
	if bytes.HasPrefix(head, archiveMagic) {
		return archiveFormat
	}
	if f := formatOf(name); f != unknownFormat {
		return f
	}
	if c := firstCharacter(in); c == '{' || c == '[' {
		return jsonFormat
	}
	if len(head) == raw.MinDocument && raw.Length(head) >= raw.MinDocument && raw.Length(head) <= maxFrame {
		return bsonFormat
	}
	return unknownFormat
}
