package rules

// The fields that jobs add to rows for this program alone. The API neither shows them nor accepts them in requests,
// whatever a record holds under their names.
const (
	FieldResolved = "_resolved" // names of the records that a record refers to, see package display
	FieldList     = "_list"     // the mark of a public record, see package mark
)

// Reserved reports whether a top-level field of a row is reserved for this program.
func Reserved(field string) bool { return field == FieldResolved || field == FieldList }
