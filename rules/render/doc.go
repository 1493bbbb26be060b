// Package render turns an activity into the document of its representations: print, web, portfolio, plain, icon,
// type, subtype, title, authors, editors, users, departments and quarter (openapi.json: Rendering).
//
// Data flow: Parse reads a rules file and compiles every template once into a short list of
// instructions: template.go reads it into branches, HTML with holes for fields and conditions, and
// compile.go compiles them. Complete walks the activity's BSON once (record.go) and runs the
// instructions of the activity's type and subtype (program.go). Fields insert escaped values
// (field.go, persons.go and package names, date.go), and package joiner tidies the template's own
// text around empty values. Complete keeps the representations that an activity already has and
// adds the missing ones.
//
// WithOsiris lays the settings of an OSIRIS database over the rules (osiris*.go): its templates have a notation of
// their own (osiris_template.go) and the same compiler.
//
// Rules are immutable and safe for concurrent use. Complete does not fail or panic because of a
// value in an activity, and never writes HTML outside the allow-list of package markup; a value of
// the wrong type counts as empty.
//
// To add a field, declare it in the rules file; a derived one is a line of derivedFields in
// field.go, and one of OSIRIS a line of osirisFields or of osiris.yaml. When output changes for the
// same rules, raise codeVersion, or osirisVersion for OSIRIS's templates: rows in stores are
// rendered again.
package render
