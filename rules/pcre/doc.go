// Package pcre compiles regular expressions in the syntax and with the meaning of
// PCRE2 10.42 as MongoDB uses it: UTF mode, ASCII classes. They run on Go's engine where
// it can express them and otherwise on a backtracking engine within a Budget.
package pcre
