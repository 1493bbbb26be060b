// Package accesslog reads the requests from logs of web servers: common and combined format, JSON of nginx and Caddy,
// Vitrine's own text and JSON, HAR files of browsers, and lists of paths. Each line says itself what it is; what is
// compressed with gzip is decompressed. Logs are streamed, and a line or entry may have any length.
//
// Examples of lines, all of which give GET /api/activities?limit=3:
//
//	10.0.0.1 - - [01/Mar/2026:10:00:00 +0100] "GET /api/activities?limit=3 HTTP/1.1" 200 512
//	{"request":{"method":"GET","uri":"/api/activities?limit=3"},"status":200}
//	time=2026-03-01T10:00:00Z level=INFO msg=request method=GET url="/api/activities?limit=3"
//	/api/activities?limit=3
//
// A log is not trusted: it has what clients sent. The caller decides which of its requests to repeat.
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

// Entry is a logged request. Method is in capitals, as logged; it is GET where a log does not say.
type Entry struct {
	Method string
	URL    string // as logged: with or without a host
}

// ErrLine is the error for a line that has no request. Reading goes on behind it. A log has such lines for requests
// that were broken off and for messages of the server, so they are counted and stop nothing.
var ErrLine = errors.New("lines without a request")

const (
	// Clients send URLs of up to 64 KiB, which JSON may escape.
	mostLine  = 256 << 10 // bytes of a line
	mostEntry = 32 << 20  // bytes of an entry of a HAR file, which may have an answer
)

// Read returns the requests of a log. Other errors than ErrLine end it.
//
// It recognises gzip by its magic number (RFC 1952: 2.3.1) and not by a name, because standard input has none, and
// skips a byte order mark, with which some tools begin a file of paths. The caller may stop at any entry; it owns r
// and closes it.
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		// The buffer is as large as the longest line, so ReadSlice needs no other one.
		in := bufio.NewReaderSize(r, mostLine)
		if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
			z, err := gzip.NewReader(in)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			in = bufio.NewReaderSize(z, mostLine)
		}
		if mark, _ := in.Peek(3); string(mark) == "\uFEFF" {
			_, _ = in.Discard(3) // cannot fail: they are in the buffer
		}
		if begin, _ := in.Peek(512); har.Match(begin) {
			readHAR(in, yield)
		} else {
			readLines(in, yield)
		}
	}
}

// readLines reads one entry from each line. Blank lines and comments give nothing. Of a line that is longer than
// the buffer it drops the rest and yields ErrLine: the text that takes its place has no request.
func readLines(in *bufio.Reader, yield func(Entry, error) bool) {
	for {
		line, err := in.ReadSlice('\n')
		text := string(bytes.TrimSpace(line))
		for errors.Is(err, bufio.ErrBufferFull) {
			text = "a line that is too long"
			_, err = in.ReadSlice('\n')
		}
		if text != "" && text[0] != '#' && !yield(parse(text)) {
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

// har matches the beginning of a HAR file. JSON logs of servers have no member "log" at their beginning.
var har = regexp.MustCompile(`^\s*\{\s*"log"\s*:\s*\{`)

// readHAR reads the entries of a HAR file one by one. The limit on bytes is set anew for each entry, so a file may
// be of any length while one entry may not fill the memory.
func readHAR(in io.Reader, yield func(Entry, error) bool) {
	bounded := &io.LimitedReader{R: in, N: mostEntry}
	d := json.NewDecoder(bounded)
	var before json.Token
	t, err := d.Token()
	for err == nil && (t != json.Delim('[') || before != "entries") {
		before = t
		t, err = d.Token()
	}
	// The decoder now stands in the array of entries; what came before it was skipped token by token.
	n := 0
	for ; err == nil && d.More(); n++ {
		bounded.N = mostEntry
		var entry struct{ Request Entry }
		if err = d.Decode(&entry); err != nil {
			break
		}
		if !yield(entry.Request, nil) {
			return
		}
	}
	if err == nil {
		_, err = d.Token() // More is false if the file ends, too
	}
	if err != nil {
		yield(Entry{}, fmt.Errorf("HAR: after %d entries: %w", n, err))
	}
}

var (
	requestLine = regexp.MustCompile(`^([A-Z]+) (\S.*?)(?: HTTP/[0-9.]+)?$`)
	quoted      = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	logfmt      = regexp.MustCompile(` msg=request .*?\bmethod=(\S+) url=("(?:[^"\\]|\\.)*"|\S+)`)
	address     = regexp.MustCompile(`^(?:/|https?://)\S*$`)
)

// parse returns the request of a line. The order goes from the strictest form to the loosest, since a looser one
// would match a part of a stricter: an address alone; an object anywhere in the line, because a collector may put a
// time before it; Vitrine's text; a quoted request line; an unquoted one.
func parse(line string) (Entry, error) {
	if address.MatchString(line) {
		return Entry{"GET", line}, nil
	}
	if at := strings.IndexByte(line, '{'); at >= 0 {
		if e := parseJSON([]byte(line[at:])); e.URL != "" {
			return e, nil
		}
	}
	if m := logfmt.FindStringSubmatch(line); m != nil {
		return Entry{m[1], unquoted(m[2])}, nil
	}
	for _, part := range append(quoted.FindAllString(line, -1), line) {
		if m := requestLine.FindStringSubmatch(unquoted(part)); m != nil {
			return Entry{m[1], m[2]}, nil
		}
	}
	return Entry{}, ErrLine
}

// unquoted returns what a quoted text quotes. Servers escape as Go does: \" for a quotation mark, and \xHH for a
// byte that is not printable. A text that Go cannot read only loses its quotation marks.
func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return strings.Trim(text, `"`)
}

// parseJSON returns the request of an object: of its parts, by the names that servers and common formats give them,
// or of the request line or the object "request". Its URL is empty if there is none.
//
// Examples: nginx {"request":"GET /x HTTP/1.1"} or {"request_method":"GET","request_uri":"/x"}, Caddy
// {"request":{"method": "GET","uri":"/x"}}.
func parseJSON(object []byte) Entry {
	type parts struct {
		Method, URL, URI, Args string
		RequestMethod          string `json:"request_method"`
		RequestURI             string `json:"request_uri"`
	}
	var l struct {
		parts
		Request json.RawMessage
	}
	_ = json.Unmarshal(object, &l) // on an error, fields are empty
	if line := ""; json.Unmarshal(l.Request, &line) == nil {
		if e, err := parse(line); err == nil {
			return e
		}
	}
	_ = json.Unmarshal(l.Request, &l.parts) // which is an object, or nothing
	// nginx has the path in $uri and the query in $args, without the question mark.
	if l.Args != "" {
		l.URI += "?" + l.Args
	}
	return Entry{cmp.Or(l.Method, l.RequestMethod, "GET"), cmp.Or(l.RequestURI, l.URL, l.URI)}
}
