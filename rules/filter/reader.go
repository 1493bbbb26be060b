package filter

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// reader is what the parsers of conditions and of expressions share. It keeps the place
// inside the filter, for errors, and counts against the limits.
//
// It also keeps the first fault. A parser goes on behind a fault, to the end of the
// element at hand. What it returns then means nothing, and further faults are ignored.
type reader struct {
	o          Options
	at         []string // the place inside the filter, part by part
	fault      *rules.Error
	beyond     *rules.Error // the first thing that is valid but not evaluated in memory
	nodes      int          // the conditions so far; see Options.MaxNodes
	values     int          // the values in lists so far
	backtracks bool         // an expression needs the backtracking engine
	timed      bool         // the filter asks for the time
}

// wrongf returns an error at the current place.
func (r *reader) wrongf(format string, args ...any) *rules.Error {
	return rules.Wrongf(r.o.Param, strings.Join(r.at, "."), format, args...)
}

// fail records a fault at the current place.
func (r *reader) fail(format string, args ...any) {
	if r.fault == nil {
		r.fault = r.wrongf(format, args...)
	}
}

// checkPath refuses a path that Options.Refusal refuses.
func (r *reader) checkPath(path string) {
	if reason := r.o.Refusal(path); reason != "" {
		r.fail("%s", reason)
	}
}

// notInMemory records that something is valid but not evaluated here. Parsing
// goes on, so that a filter reported as such is valid in all its other parts.
func (r *reader) notInMemory(what string) {
	if r.beyond == nil {
		r.beyond = r.wrongf("%s is not evaluated in memory", what)
		r.beyond.Kind = ErrNotInMemory
	}
}

// moment is the part of a key that depends on the time, "" if nothing does.
func (r *reader) moment() string {
	if !r.timed {
		return ""
	}
	return "@" + strconv.FormatInt(r.o.Now.Unix(), 10)
}

// within calls read at a named place one level deeper, and counts it as a condition.
func (r *reader) within(name string, read func()) {
	r.at = append(r.at, name)
	if r.nodes++; r.nodes > r.o.MaxNodes {
		r.fail("the filter has more than %d conditions", r.o.MaxNodes)
	} else {
		read()
	}
	r.at = r.at[:len(r.at)-1]
}

// each calls read within each element of a document or array, up to the first fault.
func (r *reader) each(doc []byte, read func(name string, v bson.RawValue)) {
	elements := raw.Read(doc)
	for e, ok := elements.Next(); ok && r.fault == nil; e, ok = elements.Next() {
		name := string(e.Key)
		r.within(name, func() { read(name, e.Value()) })
	}
}

// regex compiles a regular expression that is a string or a regular expression value,
// with options that may be given beside it. sigil is what the names of the two begin with,
// and refusal is the fault of other values.
func (r *reader) regex(v bson.RawValue, given, sigil, refusal string) *Regex {
	if v.Type != bson.TypeString && v.Type != bson.TypeRegex {
		r.fail("%s", refusal)
	}
	pattern, options := raw.Text(v), ""
	if v.Type == bson.TypeRegex {
		own, letters := raw.RegexParts(v.Value)
		pattern, options = string(own), string(letters)
	}
	if given != "" && options != "" {
		r.fail("options are set both in %[1]sregex and in %[1]soptions", sigil)
	}
	return r.compile(pattern, options+given)
}

// regexValue compiles a regular expression value.
func (r *reader) regexValue(v bson.RawValue) *Regex { return r.regex(v, "", "", "") }

// compile compiles an expression within the limits. An expression that neither
// engine can run is recorded as not evaluated in memory.
func (r *reader) compile(pattern, options string) *Regex {
	if len(pattern) > r.o.MaxPattern {
		r.fail("the regular expression is longer than %d bytes", r.o.MaxPattern)
		return nil
	}
	compiled, err := pcre.Compile(pattern, options)
	if fault, ok := err.(*pcre.Error); ok && fault.Unsupported {
		r.notInMemory("the regular expression feature " + fault.Reason)
		compiled = &pcre.Regexp{}
	} else if err != nil {
		r.fail("%s", err)
		return nil
	}
	re := &Regex{Regexp: compiled, Pattern: pattern, timeout: r.o.RegexTimeout}
	if re.Backtracks() {
		r.backtracks = true
		re.late = r.wrongf("the regular expression needs too much backtracking: %s is the limit for all records and expressions", r.o.RegexTimeout)
	}
	return re
}
