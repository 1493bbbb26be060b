package osiristest

import (
	"net/http"
	"time"
)

// Failure is a way in which the server fails, until it is Healthy again.
type Failure int

// The failures.
const (
	Healthy       Failure = iota
	Stopped               // connections are refused
	DatabaseAway          // status 500 with an empty body
	Hangs                 // no answer, until the client leaves or the failure is over
	Slow                  // an answer after Slowness
	LoginRedirect         // status 302 to the login page, which answers
	LoginPage             // status 200 with the login page
	ErrorPage             // status 200 with a page in HTML
	Warning               // status 200 and JSON's media type, with a message in HTML before the JSON
	Truncated             // the connection ends within the body
	Refused               // status 200 with an envelope of 403
	Broken                // status 200 with an envelope of 500
)

// Slowness is how long a Slow server takes.
const Slowness = 300 * time.Millisecond

var failureNames = []string{
	"healthy", "stopped", "database away", "hangs", "slow", "login redirect", "login page", "error page", "warning",
	"truncated", "refused", "broken",
}

// String returns a name for tests.
func (f Failure) String() string { return failureNames[f] }

// Failures returns the failures in which no good answer comes.
func Failures() []Failure {
	return []Failure{
		Stopped, DatabaseAway, Hangs, LoginRedirect, LoginPage, ErrorPage, Warning, Truncated, Refused, Broken,
	}
}

// loginPage and errorPage are pages in HTML.
const (
	loginPage = "<!DOCTYPE html>\n<html><body><form action=\"/user/login\" method=\"post\">Login</form></body></html>\n"
	errorPage = "<br />\n<b>Fatal error</b>: Uncaught Error: Call to a member function toArray() on null\n"
)

// fail answers a request as the failure has it, and reports whether it did. good is the body of a good answer.
func fail(w http.ResponseWriter, r *http.Request, now state, good []byte) bool {
	switch now.failure {
	case DatabaseAway:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(http.StatusInternalServerError)
	case Hangs:
		select {
		case <-r.Context().Done():
		case <-now.over:
		}
		panic(http.ErrAbortHandler) // closes the connection
	case Slow:
		select {
		case <-r.Context().Done():
		case <-now.over:
		case <-time.After(Slowness):
		}
		return false
	case LoginRedirect:
		redirect(w)
	case LoginPage:
		page(w, http.StatusOK, loginPage)
	case ErrorPage:
		page(w, http.StatusOK, errorPage)
	case Warning:
		write(w, append([]byte("<br />\n<b>Warning</b>: Undefined array key\n"), good...))
	case Truncated:
		write(w, good[:len(good)/2])
		panic(http.ErrAbortHandler)
	case Refused:
		write(w, failed(403, "not allowed").text())
	case Broken:
		write(w, failed(500, "no answer from the database").text())
	default:
		return false
	}
	return true
}

// page answers with a page in HTML.
func page(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(status)
	write(w, []byte(text))
}

// redirect sends a caller without a session to the login page.
func redirect(w http.ResponseWriter) {
	w.Header().Set("Location", loginPath)
	page(w, http.StatusFound, "")
}

// write sends a body in chunks, as PHP does behind nginx: its length is not known before.
func write(w http.ResponseWriter, body []byte) {
	_, _ = w.Write(body)                      // the client may have left
	_ = http.NewResponseController(w).Flush() // as above
}
