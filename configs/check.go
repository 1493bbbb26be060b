package configs

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// checkValue checks a value that was read for k, or one element of it. Numbers
// may never be negative.
func (k *Key) checkValue(v reflect.Value) error {
	for check := range strings.FieldsSeq(k.check) {
		if err := checkOne(check, v); err != nil {
			return err
		}
	}
	if (v.CanInt() && v.Int() < 0) || (v.CanFloat() && v.Float() < 0) {
		return fmt.Errorf("may not be negative, have %v", v)
	}
	return nil
}

func checkOne(check string, v reflect.Value) error {
	switch check {
	case "positive":
		if v.Int() == 0 {
			return errors.New("may not be 0")
		}
	case "share":
		if v.Float() > 1 {
			return fmt.Errorf("want a share from 0 to 1, have %v", v)
		}
	case "required": // empty values do not come this far
	default:
		return checkText(check, v.String())
	}
	return nil
}

// checkText checks a text that is not empty. check is one of
//
//	address    HOST:PORT to listen on
//	collection a MongoDB collection
//	cron       a cron spec that fires at some time
//	database   a MongoDB database
//	network    an IP address or a network in CIDR form
//	origin     a web origin, or *
//	oneof:A,B  one of the words
//	path       a dotted path in a document
//	template   a web address with {id} in it
//	token      the name of a header or cookie
//	uri        the address of a store
//	zone       an IANA time zone
func checkText(check, text string) error {
	name, words, _ := strings.Cut(check, ":")
	switch name {
	case "address":
		return checkAddress(text)
	case "collection":
		return checkName(text, "a collection", "$\x00")
	case "cron":
		return checkCron(text)
	case "database":
		return checkName(text, "a database", "/\\. \"$*<>:|?\x00")
	case "network":
		return checkNetwork(text)
	case "origin":
		return checkOrigin(text)
	case "oneof":
		return checkWord(text, strings.Split(words, ","))
	case "path":
		return checkPath(text)
	case "template":
		return checkTemplate(text)
	case "token":
		return checkToken(text)
	case "uri":
		return checkURI(text)
	case "zone":
		return checkZone(text)
	}
	return fmt.Errorf("no check is named %q", name)
}

func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("want HOST:PORT such as 127.0.0.1:8080 or :8080, have %q", text)
	}
	return nil
}

func checkName(text, what, forbidden string) error {
	if i := strings.IndexAny(text, forbidden); i >= 0 {
		return fmt.Errorf("the name of %s may not contain %q, have %q", what, text[i], text)
	}
	return nil
}

// checkCron guards the parser against its own panic on specs that begin with a
// time zone and nothing else, and refuses what would never fire ("0 0 31 2 *").
func checkCron(text string) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("want a cron spec of five fields or @every DURATION, have %q", text)
		}
	}()
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return fmt.Errorf("bad cron spec %q: %w", text, err)
	}
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		if d, err := time.ParseDuration(every); err != nil || d < time.Second {
			return fmt.Errorf("bad cron spec %q: want at least @every 1s", text)
		}
	}
	if schedule.Next(time.Unix(0, 0)).IsZero() {
		return fmt.Errorf("bad cron spec %q: it never fires", text)
	}
	return nil
}

func checkNetwork(text string) error {
	if _, err := netip.ParseAddr(text); err == nil {
		return nil
	}
	if _, err := netip.ParsePrefix(text); err == nil {
		return nil
	}
	return fmt.Errorf("want an IP address or a network such as 10.0.0.0/8, have %q", text)
}

func checkOrigin(text string) error {
	if text == "*" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" ||
		text != u.Scheme+"://"+u.Host {
		return fmt.Errorf("want an origin such as https://www.example.org without a path, or *, have %q", text)
	}
	return nil
}

func checkWord(text string, words []string) error {
	for _, w := range words {
		if text == w {
			return nil
		}
	}
	return fmt.Errorf("want %s, have %q%s", alternatives(words), text, didYouMean(text, words))
}

// alternatives joins words as "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func checkPath(text string) error {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || part[0] == '$' {
			return fmt.Errorf("want a dotted path such as catalog.topics, have %q", text)
		}
	}
	return nil
}

func checkTemplate(text string) error {
	u, err := url.Parse(strings.ReplaceAll(text, "{id}", "T1"))
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || !strings.Contains(text, "{id}") {
		return fmt.Errorf("want a web address with {id} in it, have %q", text)
	}
	return nil
}

// checkToken holds names of headers and cookies to what RFC 9110 calls a token.
func checkToken(text string) error {
	for _, r := range text {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return fmt.Errorf("want a name without blanks and separators, have %q", text)
		}
	}
	return nil
}

// checkURI reads the address by hand: url.Parse does not know lists of hosts.
// What it reports names no part of the address that might be secret.
func checkURI(text string) error {
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case ok && scheme == "bolt" && rest != "":
		return nil
	case ok && scheme == "bolt":
		return errors.New("names no file; want bolt://PATH")
	case !ok || (scheme != "mongodb" && scheme != "mongodb+srv"):
		return errors.New("want mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE or bolt://PATH")
	}
	rest, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "@") {
		return errors.New("write @ among the options, and ? in a password, percent-encoded")
	}
	hosts := rest[strings.LastIndexByte(rest, '@')+1:]
	hosts, database, _ := strings.Cut(hosts, "/")
	if hosts == "" {
		return errors.New("names no host; want " + scheme + "://HOST/DATABASE")
	}
	if database == "" {
		return errors.New("names no database; want " + scheme + "://HOST/DATABASE")
	}
	return checkName(database, "a database", "/\\. \"$*<>:|\x00")
}

func checkZone(text string) error {
	if _, err := time.LoadLocation(text); err != nil {
		return fmt.Errorf("want a time zone such as UTC or Europe/Berlin, have %q", text)
	}
	return nil
}
