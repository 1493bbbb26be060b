package dump

import (
	"net/url"
	"slices"
	"strings"

	"vitrine/cache/origin"
)

// format is how a file holds its documents. Compression is none: stream removes it first.
type format int

const (
	unknownFormat format = iota
	jsonFormat
	bsonFormat
	archiveFormat
)

// formatOf returns the format that a file's name tells: "persons.jsonl.gz" is jsonFormat.
func formatOf(name string) format {
	name = strings.TrimSuffix(name, ".gz")
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "jsonl", "ndjson", "json":
		return jsonFormat
	case "bson":
		return bsonFormat
	case "archive":
		return archiveFormat
	}
	return unknownFormat
}

// collectionOf derives a collection's name from its file's: for BSON without the ending and mongodump's percent
// escapes ("fs.files" is a usual name), for other formats the part before the first dot.
func collectionOf(name string, f format) string {
	if f != bsonFormat {
		name, _, _ = strings.Cut(name, ".")
		return name
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".bson")
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// auxiliary reports whether a file of a mongodump folder holds metadata or the log of operations.
func auxiliary(name string) bool {
	name = strings.TrimSuffix(name, ".gz")
	return strings.HasSuffix(name, ".metadata.json") || slices.Contains([]string{"prelude.json", "oplog.bson"}, name)
}

// exclusionOf returns why a collection is not imported, or "" if it is.
// These are no mistakes of the user, so the rest is imported and a note says why this is not.
func exclusionOf(collection string) string {
	switch {
	case strings.HasPrefix(collection, "system."):
		return "belongs to the database server"
	case strings.HasPrefix(collection, origin.SidePrefix):
		return "side collections are made by materializing, not imported"
	}
	return ""
}
