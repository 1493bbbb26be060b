// Package purge tells caches in front of the server which answers have changed.
//
// Answers carry tags, in Surrogate-Key and in Cache-Tag. When a generation of a view is shown, the tags of what changed are
// sent to each target: to Varnish, Fastly, Cloudflare, another cache, or as a signed webhook to anything else. A target has
// its own queue, so that one that fails holds up no other, and nothing waits for a target.
//
//	view-activities   every answer from the view; sent when the whole view was read anew
//	any-activities    answers that any change of the view may alter
//	id-ID, unit-ID, person-ID, project-ID, topic-ID
//	                  answers about one record, or the list of the records of a unit …
package purge
