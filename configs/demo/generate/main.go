// Command generate writes the demo institute. Its output is the same on every
// run and machine: all chance comes from seeds, no date from a clock.
//
//	units ─▶ people ─┐
//	topics ──────────┼─▶ projects, proposals ─▶ activities ─▶ conferences
//	venues ──────────┘
//
// Run it with `go generate ./configs/demo`; the test of the folder fails while
// the files differ from what it would write.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func main() {
	if err := write("data"); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// write writes a file per collection into the folder.
func write(folder string) error {
	for _, c := range newInstitute().collections() {
		lines, err := jsonLines(c.docs)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := z.Write(lines); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		file := filepath.Join(folder, c.name+".jsonl.gz")
		if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// jsonLines returns documents as relaxed Extended JSON, one a line.
func jsonLines(docs []bson.D) ([]byte, error) {
	var out bytes.Buffer
	for _, d := range docs {
		line, err := bson.MarshalExtJSON(d, false, false)
		if err != nil {
			return nil, err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}
