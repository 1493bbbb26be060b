package explain

import (
	_ "embed"
	"errors"
	"io"
	"text/tabwriter"
	"text/template"
)

//go:embed text.tmpl
var textSource string

// textTemplate has the words alone. Go code decides before what an Explanation says.
var textTemplate = template.Must(template.New("").Funcs(template.FuncMap{"holds": holds}).Parse(textSource))

// WriteText writes the explanation for people: `vitrine explain` and the operator's page show this text.
func (e Explanation) WriteText(w io.Writer) error {
	err := textTemplate.ExecuteTemplate(w, "explain", e)
	if e.Selected == nil {
		return err
	}
	// The columns are as wide as the widest cell and two blanks apart.
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	return errors.Join(err, textTemplate.ExecuteTemplate(table, "clauses", flat(nil, e.Selected.Clauses, "")),
		table.Flush())
}

// flat appends clauses, each before its parts.
func flat(all, clauses []Clause, indent string) []Clause {
	for _, c := range clauses {
		c.Clause = indent + c.Clause
		all = flat(append(all, c), c.Clauses, indent+"  ")
	}
	return all
}

// holds returns the verdict of a clause.
func holds(verdict *bool) string {
	switch {
	case verdict == nil:
		return "-"
	case *verdict:
		return "holds"
	}
	return "fails"
}
