// Package explain says how answers are made, and why a record is in one or not:
//
//	Explain     runs a request up to its answer, and puts the answer into words   (explain.go)
//	asked       what is asked about the selection and the record in question      (asked.go)
//	Clause      a condition in words, and what the record has at its path         (clause.go)
//	Membership  why the answer has the record or not                              (membership.go)
//	Upstream    what is kept of the other server's answers by rule                (upstream.go)
//	Forwarded   why an answer is the other server's, and not kept                 (upstream.go)
//	WriteText   the explanation for people                                        (text.go)
//
// It asks by the ways that requests take: each clause is counted by the Select of a snapshot, and the reference
// matcher decides about the record. No package that answers requests knows of this one, and this one knows no server:
// Options has what it needs of one.
package explain
