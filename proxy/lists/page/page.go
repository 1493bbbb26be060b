package page

import "strconv"

// Policy is the Content-Security-Policy of all pages of this package. It does not restrict
// who embeds them: they are made for iframes too.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'"

// File is a file that pages load. Its Path has a hash of its content in the name, so that
// it can be kept for ever.
type File struct {
	Path string // below the server's base, such as /lists/page.0123abcd.css
	Type string // media type
	Body []byte
}

// Files returns the files that pages load.
func Files() []File { return nil }

// Page returns a list as a whole page.
func Page(l *List) []byte { return []byte(l.Title) }

// Single returns the page of an item.
func Single(r *Record) []byte { return []byte(r.Title) }

// Index returns the index of lists.
func Index(o *Overview) []byte { return []byte(o.Base) }

// Start returns the start page: the index and the builder of snippets.
func Start(o *Overview) []byte { return []byte(o.Base) }

// Failure returns the page of an error. title and text are plain text.
func Failure(status int, title, text, lang string) []byte {
	return []byte(strconv.Itoa(status) + title + text + lang)
}
