// Package owner is the way by which commands of the owner reach the server that has the embedded store open: a
// socket beside the store's file, through which `vitrine import` stores records and `vitrine backup` reads a copy.
//
//	command: dump.Load ─▶ Client ─HTTP─▶ vitrine.db.sock ─▶ Server ─▶ the store
//
// Only one process can open the file, so the server does what the command would do itself. The command reads and
// checks the dump in either case: the server only stores batches, so that errors and counts are the same.
//
// # Who may
//
// The rights of the file decide. The socket has mode 0600, like a new store, so that only the server's user and root
// can connect; the admin listener would let every user of the machine change records where it has no token. The
// server creates the socket in a folder that only it can enter, and then moves it to its place, so that it is never
// open to others, not even for a moment, and replaces one that a killed server has left.
//
// # Protocol
//
// HTTP, one connection for each command. Requests and answers have BSON documents one after the other, or JSON.
//
//	GET  /store               the store, and whether this server builds views
//	POST /import              begins an import on this connection, unless another one runs
//	POST /upsert?collection=  stores the documents in the body: at once, or not at all if it is cut
//	POST /ids?collection=     the ids of the collection
//	POST /remove?collection=  deletes the documents with the ids in the body
//	GET  /backup              a copy of the file
//
// An import ends with its connection, however the command ends, so that a killed one keeps nothing from the next.
package owner
