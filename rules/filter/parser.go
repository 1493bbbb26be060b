package filter

import (
	"errors"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// parser turns conditions into nodes, within limits. rules.Fail ends it at the first error, with its place.
type parser struct {
	o          Options
	at         []string     // the current place inside the filter, part by part
	beyond     *rules.Error // the first part that is valid but not evaluated in memory
	expression *rules.Error // the refusal of the first $expr, if values turn out to be beyond memory
	source     bool         // see ForeignNode.Source
	nodes      int          // number of conditions so far; see Options.MaxNodes
	values     int          // number of values in lists so far
	backtracks bool         // an expression needs the backtracking engine
	timed      bool         // the filter depends on the time
	meaning    meaning      // how to interpret the texts that values are compared with
	inElem     int          // number of open object-form $elemMatch
}

// wrongf returns an error at the current place.
func (p *parser) wrongf(format string, args ...any) *rules.Error {
	return rules.Wrongf(p.o.Param, strings.Join(p.at, "."), format, args...)
}

// fail ends parsing with an error at the current place. It panics, and FromBSON recovers; so the
// parser's functions have no error to pass on.
func (p *parser) fail(format string, args ...any) { rules.Fail(p.wrongf(format, args...)) }

// checkPath refuses a path if Options.Refusal does.
func (p *parser) checkPath(path string) {
	if reason := p.o.Refusal(path); reason != "" {
		p.fail("%s", reason)
	}
}

// notInMemory records a part that is valid but not evaluated here; parsing goes on to check the rest.
func (p *parser) notInMemory(what string) { p.leave(p.refusal(what)) }

// refusal returns the ErrNotInMemory for a part at the current place.
func (p *parser) refusal(what string) *rules.Error {
	fault := p.wrongf("%s is not evaluated in memory", what)
	fault.Kind = ErrNotInMemory
	return fault
}

// leave records why the filter is left to a database. The first reason counts.
func (p *parser) leave(refusal *rules.Error) {
	if p.beyond == nil {
		p.beyond = refusal
	}
}

// moment returns the part of a key that depends on the time, or "".
func (p *parser) moment() string {
	if !p.timed {
		return ""
	}
	return "@" + strconv.FormatInt(p.o.Now.Unix(), 10)
}

// within calls read at a named place one level deeper, and counts a condition. If read fails, the
// place stays as it is, for the error; the parser is not used again.
func (p *parser) within(name string, read func()) {
	p.at = append(p.at, name)
	if p.nodes++; p.nodes > p.o.MaxNodes {
		p.fail("the filter has more than %d conditions", p.o.MaxNodes)
	}
	read()
	p.at = p.at[:len(p.at)-1]
}

// each calls read at the place of each element of a document or array.
func (p *parser) each(doc []byte, read func(name string, v bson.RawValue)) {
	for e := range raw.All(doc) {
		name := string(e.Key)
		p.within(name, func() { read(name, e.Value()) })
	}
}

// regex compiles a regular expression that is a string or a regular expression value. sigil is the prefix of the
// names of the pattern and its options, and refusal the reason for refusing other values.
func (p *parser) regex(v bson.RawValue, given, sigil, refusal string) *Regex {
	if v.Type != bson.TypeString && v.Type != bson.TypeRegex {
		p.fail("%s", refusal)
	}
	pattern, options := raw.Text(v), ""
	if v.Type == bson.TypeRegex {
		own, letters := raw.RegexParts(v.Value)
		pattern, options = string(own), string(letters)
	}
	if given != "" && options != "" {
		p.fail("options are set both in %[1]sregex and in %[1]soptions", sigil)
	}
	return p.compile(pattern, options+given)
}

// regexValue compiles a regular expression value, which has its options with it.
func (p *parser) regexValue(v bson.RawValue) *Regex { return p.regex(v, "", "", "") }

// compile compiles an expression within the limits. If neither engine can run it, compile records
// it as not evaluated in memory. The message for a late match is made here, while the place is
// known.
func (p *parser) compile(pattern, options string) *Regex {
	if len(pattern) > maxPattern {
		p.fail("the regular expression is longer than %d bytes", maxPattern)
	}
	compiled, err := pcre.Compile(pattern, options)
	if fault, ok := errors.AsType[*pcre.Error](err); ok && fault.Unsupported {
		p.notInMemory("the regular expression feature " + fault.Reason)
		compiled = &pcre.Regexp{}
	} else if err != nil {
		p.fail("%s", err)
	}
	re := &Regex{Regexp: compiled, Pattern: pattern}
	if re.Backtracks() {
		p.backtracks = true
		re.late = p.wrongf(
			"the regular expression needs too much backtracking: %s is the limit for all records and expressions",
			pcre.DefaultBudget)
	}
	return re
}
