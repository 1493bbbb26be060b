package origin

import (
	"errors"
	"fmt"
	"strings"
)

// SidePrefix begins the name of every collection that Vitrine writes.
const SidePrefix = "view_"

// ForeignError reports a meta or lease that was written for another source database than the store's own. Two
// institutes then share one database for their views, and each would serve and replace the rows of the other.
type ForeignError struct {
	Database string // database with the views
	Source   string // source database for which the document was written
	Own      string // source database of the store
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("database %s has views of the records in %s, not of those in %s: "+
		"set views.database to a database that no other institute uses", e.Database, e.Source, e.Own)
}

// Unwrap returns ErrForeign.
func (e *ForeignError) Unwrap() error { return ErrForeign }

// CheckCollection returns an error unless a source collection may have this name: the name is not empty, not reserved
// for Vitrine or the server, and acceptable to MongoDB.
func CheckCollection(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("collection without a name")
	case strings.HasPrefix(name, SidePrefix), strings.HasPrefix(name, "system."):
		return fmt.Errorf("collection %q: names with this beginning are reserved", name)
	case strings.ContainsAny(name, "$\x00"), len(name) > 200:
		return fmt.Errorf("collection %q: a name has neither $ nor zero bytes and at most 200 bytes", name)
	}
	return nil
}

// CheckView returns an error unless a view may have this name: it has 1 to 100 small letters, digits and '_', and
// does not name a collection for the stores' own records.
func CheckView(name string) error {
	strange := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
	})
	switch {
	case name == "" || len(name) > 100 || strange >= 0:
		return fmt.Errorf("view %q: a name is 1 to 100 small letters, digits and '_'", name)
	case name == "meta" || name == "staged" || name == "lease" || name == "upstream":
		return fmt.Errorf("view %q: the name is reserved", name)
	}
	return nil
}

// Check returns an error unless the row can be stored: it must have an ID, and its document the same _id.
func (r Row) Check() error {
	if r.ID.IsZero() {
		return errors.New("row without ID")
	}
	if r.Doc == nil {
		return nil
	}
	id, err := r.Doc.LookupErr("_id")
	if err != nil {
		return fmt.Errorf("row %s: _id of its document: %w", r.ID.String(), err)
	}
	if !id.Equal(r.ID) {
		return fmt.Errorf("row %s: its document has another _id: %s", r.ID.String(), id.String())
	}
	return nil
}
