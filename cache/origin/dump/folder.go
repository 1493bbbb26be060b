package dump

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// addFolder adds a folder's data files, or, if it has none, those of the one
// folder in it that holds a database as mongodump writes it.
func (d *Dump) addFolder(at location) error {
	files, databases, err := d.listFolder(at)
	if err != nil {
		return err
	}
	if len(files) > 0 && !slices.Contains(databases, d.opts.Database) {
		for _, name := range databases {
			d.note("%s: ignored: a folder beside data files", at.below(name).shown)
		}
		return d.addFiles(at, files)
	}
	if len(databases) == 0 {
		return fmt.Errorf("%s: the folder holds no data files", at.shown)
	}
	name, err := d.chooseDatabase(at.shown, databases)
	if err != nil {
		return err
	}
	at = at.below(name)
	if files, _, err = d.listFolder(at); err != nil {
		return err
	}
	return d.addFiles(at, files)
}

// addFiles adds the named files of a folder.
func (d *Dump) addFiles(folder location, files []string) error {
	for _, name := range files {
		at := folder.below(name)
		info, err := fs.Stat(at.fsys, at.name)
		if err != nil {
			return at.explain(err)
		}
		if err := d.addFile(at, info.Size(), true); err != nil {
			return err
		}
	}
	return nil
}

// listFolder returns the names of a folder's data files and of the folders in it
// that hold BSON files, and notes what else there is. Hidden entries are passed over.
func (d *Dump) listFolder(at location) (files, databases []string, err error) {
	entries, err := fs.ReadDir(at.fsys, at.name)
	if err != nil {
		return nil, nil, at.explain(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") || besides(name) {
			continue
		}
		below := at.below(name)
		info, err := fs.Stat(at.fsys, below.name) // follows links, as entry.IsDir does not
		switch {
		case err != nil:
			return nil, nil, below.explain(err)
		case info.IsDir() && holdsBSON(below):
			databases = append(databases, name)
		case !info.IsDir() && formatOf(name) != unknownFormat:
			files = append(files, name)
		default:
			d.note("%s: ignored: not a data file", below.shown)
		}
	}
	return files, databases, nil
}

// holdsBSON reports whether a folder looks like a database that mongodump wrote.
func holdsBSON(at location) bool {
	entries, err := fs.ReadDir(at.fsys, at.name)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return formatOf(e.Name()) == bsonFormat && !besides(e.Name())
	})
}
