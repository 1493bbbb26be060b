package dump

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// addFolder adds a folder's data files, or if it has none, those of the only database written by mongodump in it.
// The cases, in order: neither files nor databases; a folder above the databases of a dump; a folder of files, in
// which folders are only noted. If Options.Database names one of those folders, it is read in place of the files.
func (d *Dump) addFolder(folder string) error {
	files, databases, err := d.listFolder(folder)
	switch {
	case err != nil:
		return err
	case len(files) == 0 && len(databases) == 0:
		return fmt.Errorf("%s: the folder holds no data files", folder)
	case len(files) == 0 || slices.Contains(databases, d.opts.Database):
		database, err := d.chooseDatabase(folder, databases)
		if err != nil {
			return err
		}
		return d.addFolder(path.Join(folder, database))
	}
	for _, name := range databases {
		d.note("%s: ignored: a folder beside data files", path.Join(folder, name))
	}
	for _, name := range files {
		below := path.Join(folder, name)
		if err := d.addFile(d.files, below, below, true); err != nil {
			return err
		}
	}
	return nil
}

// listFolder returns a folder's data files and the folders in it with BSON files, and notes others but hidden ones.
// Hidden and auxiliary files are expected in every dump, and a note on each would hide the others.
func (d *Dump) listFolder(folder string) (files, databases []string, err error) {
	entries, err := fs.ReadDir(d.files, folder)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") || auxiliary(name) {
			continue
		}
		below := path.Join(folder, name)
		info, err := fs.Stat(d.files, below) // Stat follows links, which entry.IsDir does not
		switch {
		case err != nil:
			return nil, nil, err
		case info.IsDir() && d.holdsBSON(below):
			databases = append(databases, name)
		case !info.IsDir() && formatOf(name) != unknownFormat:
			files = append(files, name)
		default:
			d.note("%s: ignored: not a data file", below)
		}
	}
	return files, databases, nil
}

// holdsBSON reports whether a folder looks like a database that mongodump wrote.
// A folder that cannot be read is none: addFolder notes it as ignored.
func (d *Dump) holdsBSON(folder string) bool {
	entries, err := fs.ReadDir(d.files, folder)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return formatOf(e.Name()) == bsonFormat && !auxiliary(e.Name())
	})
}
