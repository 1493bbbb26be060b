// Package accesslog reads the requests from logs of web servers: common and combined format, JSON of nginx and Caddy,
// Vitrine's own text and JSON, HAR files of browsers, and lists of paths. Each line says itself what it is; what is
// compressed with gzip is decompressed. Logs are streamed, and a line or entry may have any length.
package accesslog

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// Entry is a logged request.
type Entry struct {
	Method string
	URL    string // as logged: with or without a host
}

// ErrLine is the error for a line that has no request. Reading goes on behind it.
var ErrLine = errors.New("lines without a request")

const (
	mostLine  = 256 << 10 // bytes of a line
	mostEntry = 32 << 20  // bytes of an entry of a HAR file, which may have an answer
)

// Read returns the requests of a log. Other errors than ErrLine end it.
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		in := bufio.NewReaderSize(r, mostLine)
		if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
			z, err := gzip.NewReader(in)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			in = bufio.NewReaderSize(z, mostLine)
		}
		if begin, _ := in.Peek(512); har.Match(begin) {
			readHAR(in, yield)
			return
		}
		readLines(in, yield)
	}
}

func readLines(in *bufio.Reader, yield func(Entry, error) bool) {
	for {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		var e Entry
		text := bytes.TrimSpace(line)
		if !long && len(text) > 0 {
			e = parse(text)
		}
		if e.URL != "" && !yield(e, nil) || e.URL == "" && (long || len(text) > 0 && text[0] != '#') && !yield(e, ErrLine) {
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				yield(Entry{}, err)
			}
			return
		}
	}
}

// har matches the beginning of a HAR file.
var har = regexp.MustCompile(`^(\x{FEFF})?\s*\{\s*"log"\s*:\s*\{`)

// readHAR reads the entries of a HAR file one by one.
func readHAR(in *bufio.Reader, yield func(Entry, error) bool) {
	if mark, _ := in.Peek(3); string(mark) == "\uFEFF" {
		_, _ = in.Discard(3) // cannot fail: they are in the buffer
	}
	bounded := &io.LimitedReader{R: in, N: mostEntry}
	d := json.NewDecoder(bounded)
	var before json.Token
	for {
		t, err := d.Token()
		if err != nil {
			yield(Entry{}, fmt.Errorf("HAR: %w", err))
			return
		}
		if t == json.Delim('[') && before == "entries" {
			break
		}
		before = t
	}
	for n := 1; d.More(); n++ {
		bounded.N = mostEntry
		var entry struct{ Request struct{ Method, URL string } }
		if err := d.Decode(&entry); err != nil {
			yield(Entry{}, fmt.Errorf("HAR: entry %d: %w", n, err))
			return
		}
		if !yield(Entry(entry.Request), nil) {
			return
		}
	}
	if _, err := d.Token(); err != nil { // More is false if the file ends, too
		yield(Entry{}, fmt.Errorf("HAR: %w", err))
	}
}

var (
	requestLine = regexp.MustCompile(`^([A-Z]+) (\S.*?)(?: HTTP/[0-9.]+)?$`)
	quoted      = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	logfmt      = regexp.MustCompile(` msg=request .*?\bmethod=(\S+) url=("(?:[^"\\]|\\.)*"|\S+)`)
	address     = regexp.MustCompile(`^(?:/|https?://)\S*$`)
)

// parse returns the request of a line. Its URL is empty if there is none.
func parse(line []byte) Entry {
	text := string(line)
	switch m := logfmt.FindStringSubmatch(text); {
	case line[0] == '{':
		return parseJSON(line)
	case address.MatchString(text):
		return Entry{"GET", text}
	case m != nil:
		return Entry{m[1], unquoted(m[2])}
	}
	for _, part := range append(quoted.FindAllString(text, -1), text) {
		if m := requestLine.FindStringSubmatch(unquoted(part)); m != nil {
			return Entry{m[1], m[2]}
		}
	}
	return Entry{}
}

// unquoted returns what a quoted text quotes. Servers escape as Go does.
func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return strings.Trim(text, `"`)
}

// These are the names that servers and common formats give to the parts of a request.
var (
	methodNames = []string{"method", "request_method"}
	urlNames    = []string{"url", "uri", "request_uri"}
)

// parseJSON returns the request of a line in JSON: of its parts, or of the request line or the object "request".
func parseJSON(line []byte) Entry {
	var l map[string]any
	if json.Unmarshal(line, &l) != nil {
		return Entry{}
	}
	switch request := l["request"].(type) {
	case string:
		if m := requestLine.FindStringSubmatch(request); m != nil {
			return Entry{m[1], m[2]}
		}
	case map[string]any:
		l = request
	}
	part := func(names []string) string {
		for _, name := range names {
			if text, ok := l[name].(string); ok && text != "" {
				return text
			}
		}
		return ""
	}
	return Entry{cmp.Or(part(methodNames), "GET"), part(urlNames)}
}
