// Command ferretdb serves the MongoDB wire protocol over SQLite files, for the
// tests of package mongo, one writing command at a time. It is a module of its own so that the server and all
// that it needs stay out of Vitrine's dependencies.
//
// It prints its URI on the first line of its output and runs until its input
// ends, so that it never outlives the test process that started it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	dir := flag.String("dir", "", "folder for the database files")
	flag.Parse()
	if err := run(*dir); err != nil {
		log.Fatal(err)
	}
}

// run serves dir on a free loopback port until standard input ends.
func run(dir string) error {
	server, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:  "sqlite",
		// Files need not survive the machine: a busy disk then holds up no statement.
		SQLiteURL: "file:" + dir + "/?_pragma=busy_timeout(10000)&_pragma=synchronous(off)",
	})
	if err != nil {
		return fmt.Errorf("set up server: %w", err)
	}

	clients, err := newRelay()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()

	uri := clients.uri(server.MongoDBURI()) // waits for the listener
	go clients.run()
	fmt.Println(uri)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return <-done
}
