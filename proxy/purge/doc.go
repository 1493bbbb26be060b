// Package purge tells caches in front of the server which answers have changed.
//
// Answers carry tags, in Surrogate-Key and in Cache-Tag. When the server shows a new generation of a view, it sends
// the tags of the changed answers to each target: Varnish, Fastly, Cloudflare, another cache, or a signed webhook for
// anything else. Each target has its own queue, so that a failing target does not delay others, and no request waits
// for a target.
//
//	view-activities   every answer from the view; sent when the whole view was read anew
//	any-activities    answers that any change of the view may alter
//	id-ID, unit-ID, person-ID, project-ID, topic-ID
//	                  answers about one record, or the list of the records of a unit …
//	view-upstream, upstream-PATH
//	                  answers that are kept of the other server's: all, or those of a path. They also have view-NAME
//	                  and any-NAME for each view that they depend on
package purge
