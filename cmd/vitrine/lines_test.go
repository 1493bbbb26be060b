package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxColumns = 120 // of a line, comments included
	tabColumns = 4   // what a tab at the beginning of a line takes
)

// TestLines: a line is read at once, without scrolling. Raw strings are data: what they hold is written as its
// own language wants it.
func TestLines(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() != ".." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		raw := rawLines(text)
		for i, line := range strings.Split(string(text), "\n") {
			columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
			if columns > maxColumns && !raw[i+1] {
				t.Errorf("%s:%d has %d columns; at most %d", path, i+1, columns, maxColumns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rawLines returns the numbers of the lines of a Go file, from 1, that have a part of a raw string.
func rawLines(text []byte) map[int]bool {
	lines := make(map[int]bool)
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, slices.Clone(text), nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind == token.STRING && literal[0] == '`' {
			first := file.Line(pos)
			for i := range strings.Count(literal, "\n") + 1 {
				lines[first+i] = true
			}
		}
	}
}
