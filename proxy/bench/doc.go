// Package bench measures a running front end against the least that could send
// the same bytes: a bare Fiber handler. Both are asked over loopback by the same
// client, in turns, several rounds in one run, so that what else the machine does
// meets both alike; what counts is the median ratio.
package bench
