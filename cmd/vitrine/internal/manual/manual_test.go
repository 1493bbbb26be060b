package manual

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// example returns a command with everything that a page may have.
func example() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "Do things", Version: "1"}
	give := &cobra.Command{Use: "give [flags] FILE…", Short: "Give a file", Run: run,
		Long: "First paragraph,\nin two lines.\n\n.hidden is a file; \\n and \"it's\" and `x^~` stay." +
			"\n\n  as it\n  is",
		Example: "  tool give --to '*' x-y\n.z"}
	give.Flags().StringP("to", "t", "all", "`NAME` of the receiver")
	give.Flags().Bool("force", false, "even if it hurts")
	give.Flags().Bool("secret", false, "")
	_ = give.Flags().MarkHidden("secret")
	group := &cobra.Command{Use: "take", Short: "Take", Run: run}
	group.AddCommand(&cobra.Command{Use: "back", Short: "Take back", Run: run})
	root.AddCommand(give, group, &cobra.Command{Use: "hide", Hidden: true, Run: run})
	return root
}

// TestPage compares a page with what it must be.
func TestPage(t *testing.T) {
	const want = `.TH "TOOL\-GIVE" "1" "" "Tool \(dq1\(dq" "tool"
.nh
.ad l
.SH "NAME"
tool\-give \- Give a file
.SH "SYNOPSIS"
\fBtool give\fR [flags] FILE\[u2026]
.SH "DESCRIPTION"
First paragraph,
in two lines.
.PP
\&.hidden is a file; \en and "it\(aqs" and \(gax\(ha\(ti\(ga stay.
.PP
.nf
  as it
  is
.fi
.SH "OPTIONS"
.TP
\fB\-\-force\fR
even if it hurts
.TP
\fB\-t\fR, \fB\-\-to\fR \fINAME\fR
NAME of the receiver (default all)
.SH "EXAMPLES"
.nf
  tool give \-\-to \(aq*\(aq x\-y
\&.z
.fi
.SH "SEE ALSO"
\fBtool\fR(1)
`
	give, _, err := example().Find([]string{"give"})
	if err != nil {
		t.Fatal(err)
	}
	if got := Page(give, `Tool "1"`); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestWrite: every command that --help shows has a page, the same bytes each time.
func TestWrite(t *testing.T) {
	var written [2]map[string]string
	for i := range written {
		written[i] = map[string]string{}
		names, err := Write(filepath.Join(t.TempDir(), "man", "man1"), example(), "Tool 1")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			page, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			written[i][filepath.Base(name)] = string(page)
		}
	}
	if !maps.Equal(written[0], written[1]) {
		t.Error("two writes differ")
	}
	want := []string{"tool-give.1", "tool-take-back.1", "tool-take.1", "tool.1"}
	if got := slices.Sorted(maps.Keys(written[0])); !slices.Equal(got, want) {
		t.Errorf("pages %v; want %v", got, want)
	}
	if page := written[0]["tool.1"]; !strings.Contains(page, "\\fBtool\\fR COMMAND\n") ||
		!strings.Contains(page, "\\fBgive\\fR\nGive a file.\n") ||
		!strings.Contains(page, "\\fBtool\\-give\\fR(1),\n\\fBtool\\-take\\fR(1)\n") {
		t.Errorf("page of the tool:\n%s", page)
	}
	if _, err := Write(filepath.Join(t.TempDir(), "\x00"), example(), ""); err == nil {
		t.Error("a folder that cannot be: no error")
	}
	for name, page := range written[0] {
		if bad := regexp.MustCompile(`[^\n -~]`).FindString(page); bad != "" {
			t.Errorf("%s has %q", name, bad)
		}
	}
}
