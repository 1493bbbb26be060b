// Package pcre compiles regular expressions with the syntax and meaning of PCRE2 10.42 as MongoDB
// uses it: UTF mode, ASCII classes. It only decides whether a text matches, not where.
//
//	expression ──rewriter──▶ Go's syntax ──literalOf──▶ literals ──▶ regexp
//	                └──────▶ with more, if Go's engine cannot judge ──▶ regexp2
//
// The rewriter reads an expression once and writes it in Go's syntax, which regexp2 shares, and leaves refusing
// malformed expressions to their parsers: an expression that PCRE2 refuses may be accepted here. Go's engine takes
// time linear in the text and is preferred; regexp2 backtracks and is limited by a Budget. Compile returns an Error
// for an expression that neither engine can run. Matching first searches for the literal that every match contains,
// here and in the indexes of the views.
//
// Files: rewrite.go reads items and quantifiers, group.go what stands in parentheses, class.go what
// stands in brackets, escape.go what follows a backslash; literal.go finds literals, fold.go folds
// case, budget.go bounds backtracking.
package pcre
