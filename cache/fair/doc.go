// Package fair shares the processors between clients.
//
// Work for a request begins with a turn (Queue.Begin), of which there are a few for
// each processor. Nearly all work ends within it after a few milliseconds. A turn that
// takes longer becomes costly: it is given back, and the work goes on when it gets one
// of the costly turns, which are one fewer than there are processors. So whatever is
// asked for, a processor is left for what is quick. A costly turn changes hands every
// few milliseconds where others wait for it.
//
// Where more wait than there are turns for, the client goes first that has used the
// least processor time lately, and of one client's the work that has used the least.
// So a client that asks for much waits for itself, and new work that needs little more
// than is free goes before old work that needs seconds.
//
// The work itself has to look at its turn (Turn.Check) about every millisecond. That is
// also where it learns that no caller waits for it any more. Work without a turn, such as
// that of tests and of the command line, goes on unhindered.
package fair
