// Package pcre compiles regular expressions in the syntax and with the meaning of
// PCRE2 10.42 as MongoDB uses it: UTF mode, ASCII classes. It asks only whether a text
// matches, not where.
//
//	expression ──parser──▶ Go's syntax ──literalOf──▶ literals ──▶ regexp
//	                └────▶ .NET's syntax, if Go's engine cannot judge ──▶ regexp2
//
// The parser refuses what PCRE2 refuses and writes the rest as the engines spell it. A
// shape records what decides about the engine: Go's engine takes time linear in the text
// and is preferred, regexp2 backtracks and is bound by a Budget. What neither engine can
// judge is an Error that is Unsupported. The literal that every match contains is searched
// for first, here and in the indexes of the views.
package pcre
