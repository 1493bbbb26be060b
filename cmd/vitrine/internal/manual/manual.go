// Package manual writes manual pages from the help of commands, so that they say what --help says. Pages have no
// date, so that the same program always writes the same bytes.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Write writes the manual pages (section 1) of a command and of its subcommands into a folder, which it creates if
// necessary. It returns the names of the files. version is the text in the footer of pages, such as "Vitrine 1.4".
func Write(dir string, cmd *cobra.Command, version string) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, page := range append([]*cobra.Command{cmd}, subcommands(cmd)...) {
		name := filepath.Join(dir, pageName(page)+".1")
		if err := os.WriteFile(name, []byte(Page(page, version)), 0o644); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// subcommands returns the commands below one that --help shows, each followed by those below it.
func subcommands(cmd *cobra.Command) (all []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(append(all, c), subcommands(c)...)
		}
	}
	return all
}

// pageName returns the name of a command's page: "vitrine-lists-diff".
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page returns the manual page of a command as source text for man, in the macros of man(7).
func Page(cmd *cobra.Command, version string) string {
	p := &page{}
	p.request("TH", strings.ToUpper(pageName(cmd)), "1", "", version, cmd.Root().Name())
	p.line(".nh\n.ad l") // no hyphens in names, and no gaps between words
	p.request("SH", "NAME")
	p.line(escape(pageName(cmd)) + ` \- ` + escape(cmd.Short))
	p.request("SH", "SYNOPSIS")
	use := strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())
	if cmd.HasAvailableSubCommands() {
		use = " COMMAND"
	}
	p.line(`\fB` + escape(cmd.CommandPath()) + `\fR` + escape(use))
	if cmd.Long != "" {
		p.request("SH", "DESCRIPTION")
		p.text(cmd.Long)
	}
	p.commands(cmd)
	if cmd.HasAvailableLocalFlags() {
		p.request("SH", "OPTIONS")
		cmd.LocalFlags().VisitAll(p.option)
	}
	if cmd.Example != "" {
		p.request("SH", "EXAMPLES")
		p.preformatted(strings.Split(cmd.Example, "\n"))
	}
	p.related(cmd)
	return p.String()
}

// page builds the source of a manual page.
type page struct{ strings.Builder }

// line writes a line, which must be escaped.
func (p *page) line(text string) { p.WriteString(text + "\n") }

// request writes a macro of man(7), with its arguments in quotes.
func (p *page) request(name string, arguments ...string) {
	for i, a := range arguments {
		arguments[i] = `"` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	p.line(strings.TrimSuffix("."+name+" "+strings.Join(arguments, " "), " "))
}

// text writes paragraphs, which blank lines separate. A paragraph with an indented line keeps its line ends.
func (p *page) text(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			p.request("PP")
		}
		lines := strings.Split(strings.Trim(paragraph, "\n"), "\n")
		if strings.Contains("\n"+paragraph, "\n ") || strings.Contains("\n"+paragraph, "\n\t") {
			p.preformatted(lines)
			continue
		}
		for _, l := range lines {
			p.line(escape(l))
		}
	}
}

// preformatted writes lines that keep their ends and spaces.
func (p *page) preformatted(lines []string) {
	p.request("nf")
	for _, l := range lines {
		p.line(escape(strings.ReplaceAll(l, "\t", "    ")))
	}
	p.request("fi")
}

// commands writes the subcommands of a command.
func (p *page) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.request("SH", "COMMANDS")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			p.request("TP")
			p.line(`\fB` + escape(c.Name()) + `\fR`)
			p.line(escape(c.Short) + ".")
		}
	}
}

// option writes a flag with its value, as --help names it, and its default.
func (p *page) option(f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	name := `\fB` + escape("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		name = `\fB` + escape("-"+f.Shorthand) + `\fR, ` + name
	}
	if value != "" {
		name += ` \fI` + escape(value) + `\fR`
	}
	p.request("TP")
	p.line(name)
	switch f.DefValue {
	case "", "false", "0", "[]", "0s":
	default:
		usage += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	p.line(escape(usage))
}

// related writes references to the pages of the commands above and below one.
func (p *page) related(cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, pageName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			pages = append(pages, pageName(c))
		}
	}
	if pages == nil {
		return
	}
	p.request("SH", "SEE ALSO")
	for i, name := range pages {
		end := ","
		if i == len(pages)-1 {
			end = ""
		}
		p.line(`\fB` + escape(name) + `\fR(1)` + end)
	}
}

// escape returns a text so that man shows it literally. A hyphen becomes a minus sign, which can be pasted into a
// shell. Characters beyond ASCII become their code points, because not every man knows the encoding of a file.
func escape(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case i == 0 && (r == '.' || r == '\''): // would be a request
			b.WriteString(`\&` + string(r))
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'': // groff would show a curly one
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
