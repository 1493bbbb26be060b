// Package pcre compiles regular expressions in the syntax and with the meaning of
// PCRE2 10.42 as MongoDB uses it: UTF mode, ASCII classes. It asks only whether a text
// matches, not where.
//
//	expression ──rewriter──▶ Go's syntax ──literalOf──▶ literals ──▶ regexp
//	                └──────▶ .NET's syntax, if Go's engine cannot judge ──▶ regexp2
//
// The rewriter spells an expression as the engines do, and leaves it to their parsers to
// refuse what is malformed: an expression that PCRE2 refuses may have a meaning here. Go's
// engine takes time linear in the text and is preferred, regexp2 backtracks and is bound by
// a Budget. What neither engine can judge is an Error. The literal that every match contains
// is searched for first, here and in the indexes of the views.
package pcre
