// Package markup is the one place that decides which HTML may leave Vitrine.
//
// Stored and rendered citations pass Clean: what is already simple and safe, the
// form our own templates write, is recognised by a scanner that allocates nothing
// and returned byte for byte; everything else is rewritten by bluemonday under the
// same policy and then balanced. Field values come in through Title (inline
// markup of titles kept) or Escape (nothing kept); Text takes markup away again,
// and RewriteLinks points a citation's links at another site. Stored is for values that
// are answered as they are stored.
//
// All functions are pure and safe for concurrent use, and none fails: whatever
// the input, the result is safe to place into a page, and valid UTF-8 but for what
// Stored returns as it is.
package markup
