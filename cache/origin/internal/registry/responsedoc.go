package registry

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// Response is the document of a key: its answer, if it has a digest, and its claim, if it has a holder.
type Response struct {
	Key        string          `bson:"_id"`
	Generation uint64          `bson:"gen"` // of the last Put, Confirm or Drop; 0 if it was only claimed
	Digest     text            `bson:"digest"`
	Status     int             `bson:"status"`
	Header     []responseField `bson:"header"`
	Size       int             `bson:"size"`
	ETag       text            `bson:"etag"`
	Modified   text            `bson:"modified"`
	Fetched    time.Time       `bson:"fetched"`
	Checked    time.Time       `bson:"checked"`
	Marks      []responseMark  `bson:"marks"`
	Asked      time.Time       `bson:"asked,omitempty"`
	Requests   float64         `bson:"requests,omitempty"` // as of Asked
	Token      uint64          `bson:"token"`              // number of the last claim
	Holder     text            `bson:"holder"`             // has the claim; empty if it is free
	Term       time.Duration   `bson:"term"`               // nanoseconds
	Source     string          `bson:"source"`             // as in origin.Meta
	Body       []byte          `bson:"-"`                  // stored beside the other fields: updates do not read it
	Remove     bool            `bson:"-"`                  // Update deletes the document
}

// responseField is an origin.ResponseField whose value may be any bytes.
type responseField struct {
	Name  text `bson:"n"`
	Value text `bson:"v"`
}

// responseMark is a mark of an answer. A collection's name may have dots, so it is a value and not a field's name.
type responseMark struct {
	Name text  `bson:"name"`
	At   int64 `bson:"at"`
}

// text is a string in BSON if it is valid UTF-8, and binary otherwise: header values and versions are any bytes.
type text string

// MarshalBSONValue implements bson.ValueMarshaler.
func (t text) MarshalBSONValue() (kind byte, data []byte, err error) {
	var v any = string(t)
	if !utf8.ValidString(string(t)) {
		v = []byte(t)
	}
	of, data, err := bson.MarshalValue(v)
	return byte(of), data, err
}

// UnmarshalBSONValue implements bson.ValueUnmarshaler.
func (t *text) UnmarshalBSONValue(kind byte, data []byte) error {
	v := bson.RawValue{Type: bson.Type(kind), Value: data}
	if s, ok := v.StringValueOK(); ok {
		*t = text(s)
		return nil
	}
	_, bytes, ok := v.BinaryOK()
	if !ok {
		return fmt.Errorf("a text cannot be a BSON %s", v.Type)
	}
	*t = text(bytes)
	return nil
}

const (
	minStatus, maxStatus = 100, 999
	// MaxNumber bounds numbers: a greater one is damage. It leaves room for 2^52 changes after a number made of the
	// time.
	MaxNumber = 1 << 53
)

// DecodeResponse decodes a document without its body, and reports whether this package can have written it.
func DecodeResponse(doc bson.Raw) (d Response, ok bool) {
	if err := bson.Unmarshal(doc, &d); err != nil || checkResponseKey(d.Key) != nil {
		return Response{}, false
	}
	if d.Generation >= MaxNumber || d.Token >= MaxNumber || d.Size < 0 || d.Requests < 0 || math.IsNaN(d.Requests) ||
		d.Digest != "" && (d.Generation == 0 || d.Status < minStatus || d.Status > maxStatus) {
		return Response{}, false
	}
	return d, true
}

// Drop removes the answer and the claim, with a new generation.
func (d *Response) Drop(generation uint64) {
	*d = Response{
		Key: d.Key, Generation: generation, Asked: d.Asked, Requests: d.Requests, Token: d.Token, Source: d.Source,
	}
}

// halfLife is the time after which a request counts half in Response.Requests.
const halfLife = 24 * time.Hour

// AddDemand adds demand. A time after now comes from a wrong clock.
func (d *Response) AddDemand(demand origin.Demand, now time.Time) {
	asked, last := earliest(d.Asked, now), storedTime(earliest(demand.Last, now))
	old, fresh := d.Requests, float64(max(demand.Requests, 0))
	if d.Asked.IsZero() {
		asked = last
	}
	if age := last.Sub(asked); age >= 0 {
		old *= math.Exp2(-float64(age) / float64(halfLife))
	} else { // the process that reports was late
		fresh *= math.Exp2(float64(age) / float64(halfLife))
	}
	d.Asked, d.Requests = storedTime(latest(asked, last)), old+fresh
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// put replaces the answer.
func (d *Response) put(r origin.Response, generation uint64) {
	d.Generation, d.Digest, d.Status, d.Size = generation, text(r.Digest), r.Status, len(r.Body)
	d.ETag, d.Modified = text(r.ETag), text(r.Modified)
	d.Header = make([]responseField, len(r.Header))
	for i, f := range r.Header {
		d.Header[i] = responseField{text(f.Name), text(f.Value)}
	}
	d.Fetched = storedTime(r.Fetched)
	d.Checked = latest(d.Fetched, storedTime(r.Checked))
	d.Marks = marksOf(r.Marks)
	if d.Body = r.Body; d.Body == nil {
		d.Body = []byte{}
	}
}

// release gives the claim back. The token stays, and fences off the claim.
func (d *Response) release() { d.Holder, d.Term = "", 0 }

// claimed returns origin.ErrFenced unless c is the document's claim.
func (d *Response) claimed(c origin.Claim) error {
	if d.Holder == "" || string(d.Holder) != c.Holder || d.Token != c.Token {
		return fmt.Errorf("%w: the claim belongs to %q with number %d, not to %q with number %d",
			origin.ErrFenced, d.Holder, d.Token, c.Holder, c.Token)
	}
	return nil
}

// Check returns origin.ErrTooLarge unless the document with its body can be stored. Demand and claims may enlarge it.
func (d *Response) Check() error {
	doc, err := bson.Marshal(d)
	if size := len(doc) + len(d.Body); err == nil && size > origin.MaxResponse {
		err = fmt.Errorf("%w: %d bytes", origin.ErrTooLarge, size)
	}
	return err
}

// kept returns the answer without its body, or the zero Response if it is dropped.
func (d Response) kept() origin.Response {
	if d.Digest == "" {
		return origin.Response{}
	}
	d.Body = nil
	return d.response()
}

func (d Response) keptUnless(err error) (origin.Response, error) {
	if err != nil {
		return origin.Response{}, err
	}
	return d.kept(), nil
}

func (d Response) response() origin.Response {
	r := origin.Response{
		Key: d.Key, Generation: d.Generation, Digest: string(d.Digest), Status: d.Status, Body: d.Body, Size: d.Size,
		ETag: string(d.ETag), Modified: string(d.Modified), Fetched: d.Fetched, Checked: d.Checked, Asked: d.Asked,
		Requests: int64(min(math.Ceil(d.Requests), MaxNumber)),
	}
	for _, f := range d.Header {
		r.Header = append(r.Header, origin.ResponseField{Name: string(f.Name), Value: string(f.Value)})
	}
	if len(d.Marks) > 0 {
		r.Marks = make(map[string]int64, len(d.Marks))
	}
	for _, m := range d.Marks {
		r.Marks[string(m.Name)] = m.At
	}
	return r
}

// marksOf returns the marks of an answer, sorted.
func marksOf(marks map[string]int64) []responseMark {
	list := make([]responseMark, 0, len(marks))
	for _, name := range slices.Sorted(maps.Keys(marks)) {
		list = append(list, responseMark{text(name), marks[name]})
	}
	return list
}

// ResponseState is what is stored beside responses.
type ResponseState struct {
	Generation uint64      `bson:"gen"`   // the greatest number given out
	Marks      []stateMark `bson:"marks"` // see origin.Marks
	Token      uint64      `bson:"token"` // the newest token of a lease under which marks were written
	Holder     text        `bson:"holder"`
	Source     string      `bson:"source"` // as in origin.Meta
}

// stateMark is an origin.Mark with the name of its collection.
type stateMark struct {
	Name    text  `bson:"name"`
	At      int64 `bson:"at"`
	Version text  `bson:"version"`
}

// DecodeState decodes a state. Without what it cannot read, it returns the numbers that it can, so that they go on
// growing: the next run writes the marks again.
func DecodeState(doc bson.Raw) (s ResponseState) {
	if doc == nil {
		return s
	}
	if err := bson.Unmarshal(doc, &s); err != nil {
		s = ResponseState{Generation: count(doc, "gen"), Token: TokenOf(doc)}
		s.Source, _ = doc.Lookup("source").StringValueOK()
	}
	if s.Generation >= MaxNumber {
		s.Generation = 0
	}
	return s
}

func (s *ResponseState) setMarks(m origin.Marks) {
	s.Marks = make([]stateMark, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		s.Marks = append(s.Marks, stateMark{text(name), m[name].At, text(m[name].Version)})
	}
}

func (s *ResponseState) marks() origin.Marks {
	m := make(origin.Marks, len(s.Marks))
	for _, mark := range s.Marks {
		m[string(mark.Name)] = origin.Mark{At: mark.At, Version: string(mark.Version)}
	}
	return m
}

// FirstNumber returns a number from which a lost count of numbers goes on: those in documents may be lost, too, but
// readers still have them, and there are fewer than one a millisecond.
func FirstNumber(now time.Time) uint64 { return uint64(max(now.UnixMilli(), 0)) }

// CheckKeys returns the keys that a response may have, each once.
func CheckKeys(keys []string) []string {
	valid := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return checkResponseKey(key) != nil })
	slices.Sort(valid)
	return slices.Compact(valid)
}
