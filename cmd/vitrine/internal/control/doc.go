// Package control has both ends of the control socket of an embedded store. The server that has the store open
// listens on the socket, which is beside the store's file. Through it `vitrine import` stores records and `vitrine
// backup` reads a copy.
//
//	command: dump.Load ─▶ Client ─HTTP─▶ vitrine.db.sock ─▶ Server ─▶ the store
//
// Only one process can open the file, so the server does what the command would do itself. The command reads and
// checks the dump in either case: the server only stores batches, so that errors and counts are the same.
//
// # Permissions
//
// The permissions of the socket decide who may send requests. Its mode is 0600, like that of a new store, so that
// only the server's user and root can connect. The admin listener is not used for this, because without a token it
// would let every user of the machine change records. The server creates the socket in a folder that only it can
// enter, and then moves it to its place. So the socket is never open to others, not even for a moment, and it
// replaces one that a killed server has left.
//
// # Protocol
//
// HTTP, one connection for each command. Bodies are BSON documents one after the other, or JSON.
//
//	GET  /store               whether this server builds views, and whether an import runs
//	POST /import              begins an import on this connection, unless another one runs
//	POST /upsert?collection=  stores the documents in the body: at once, or not at all if it is cut
//	POST /ids?collection=     the ids of the collection
//	POST /remove?collection=  deletes the documents with the ids in the body
//	GET  /backup              a copy of the file
//
// An import ends with its connection, however the command ends, so that a killed one keeps nothing from the next.
package control
