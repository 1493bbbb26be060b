// Package markup is the only place that decides which HTML Vitrine sends.
//
// Clean handles stored and rendered citations. A scanner that does not allocate recognises simple and safe HTML, the
// form that our own templates write, and returns it byte for byte. Bluemonday rewrites all other HTML under the same
// policy, and Balance closes its elements. Title converts field values and keeps the inline markup of titles; Escape
// keeps none. Text removes markup, RewriteLinks points a citation's links at another site, and Relink gives each link
// its own target. Stored is for values sent in stored form.
//
// All functions are pure and safe for concurrent use, and none fails: the result is always safe to place into a page.
// It is valid UTF-8, except for strings that Stored returns unchanged.
package markup
