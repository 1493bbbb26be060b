package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/cache/origin"
	"vitrine/rules"
	"vitrine/rules/mark"
)

// ownStyle is a citation style that begins each entry with a word.
const ownStyle = `<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
<info><title>Own</title><id>own</id><updated>2026-11-30T00:00:00+00:00</updated></info>
<citation><layout><text variable="title"/></layout></citation>
<bibliography><layout>
  <text value="WORD"/><text variable="title" prefix=" "/>
</layout></bibliography></style>
`

// TestReloadStyles: a reload adopts citation styles and changes of their files, rows follow, and a broken style changes
// nothing.
func TestReloadStyles(t *testing.T) {
	t.Parallel()
	r := runFile(t, "")
	file := filepath.Join(filepath.Dir(r.file), "own.csl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// shown checks what lists show at once, and what rows have once they are made.
	shown := func(want string) {
		t.Helper()
		_, body := fetch(t, http.MethodGet, r.base+"/lists/activities.json?style=own")
		if !strings.Contains(body, want) {
			t.Errorf("lists have no %q: %s", want, body)
		}
		await(t, "rows have "+want, func() string {
			lacking := ""
			_, err := r.store.Rows(t.Context(), rules.ViewActivities, 0, func(row origin.Row) error {
				if styled := mark.StyledOf(mark.Of(row.Doc)); !strings.Contains(string(styled), want) {
					lacking = fmt.Sprintf("%q", styled)
				}
				return nil
			})
			if err != nil {
				return err.Error()
			}
			return lacking
		})
	}
	text := fmt.Sprintf("lists: {styles: {own: %s}}\n", file)
	write(strings.Replace(ownStyle, "WORD", "Once", 1))
	if status, done, msg := r.reload(t, text); status != http.StatusOK ||
		!slices.Equal(done.Adopted, []string{"lists.styles"}) {
		t.Fatalf("%d %s %q", status, msg, done.Adopted)
	}
	shown("Once")
	write(strings.Replace(ownStyle, "WORD", "Twice", 1))
	if status, done, msg := r.reload(t, text); status != http.StatusOK ||
		!slices.Equal(done.Adopted, []string{"lists.styles"}) {
		t.Fatalf("%d %s %q", status, msg, done.Adopted)
	}
	shown("Twice")
	write(strings.Replace(ownStyle, "<bibliography>", "<bibliography><macro/>", 1))
	if status, _, msg := r.reload(t, text); status != http.StatusBadRequest ||
		!strings.Contains(msg, "lists.styles.own: "+file+":4: ") {
		t.Errorf("a broken style: %d %s", status, msg)
	}
	shown("Twice")
	if status, _, msg := r.reload(t, "lists: {named: {a: {style: own}}}\n"); status != http.StatusBadRequest ||
		!strings.Contains(msg, "lists.named.a.style: want web, print, compact, institute, have") {
		t.Errorf("a list with a style that is gone: %d %s", status, msg)
	}
}
