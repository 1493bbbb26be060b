package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

// Client is a command's connection to the server that has a store open. It is for one goroutine.
type Client struct {
	Info  Info // of the server
	store string
	http  *http.Client
	close func()
}

var _ origin.Importer = (*Client)(nil)

// Dial connects to the server that has the store in a file open.
func Dial(ctx context.Context, store string) (*Client, error) {
	// One connection, because the server knows an import by it.
	t := &http.Transport{
		DisableCompression: true, MaxConnsPerHost: 1,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, store) },
	}
	c := &Client{store: store, http: &http.Client{Transport: t}, close: t.CloseIdleConnections}
	if err := c.call(ctx, http.MethodGet, "/store", "", nil, &c.Info); err != nil {
		return nil, fmt.Errorf("no server answers at its socket: %w", err)
	}
	return c, nil
}

// Close ends the connection, and with it an import.
func (c *Client) Close() error {
	c.close()
	return nil
}

// Import begins an import. The server allows one at a time.
func (c *Client) Import(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "/import", "", nil, &c.Info)
}

// call sends a request and decodes the JSON answer. It returns an error of the server as its own.
func (c *Client) call(ctx context.Context, method, path, collection string, body []byte, answer any) error {
	res, err := c.send(ctx, method, path, collection, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	read, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return c.connError(err)
	}
	if err := json.Unmarshal(read, answer); err != nil {
		return fmt.Errorf("the server's answer: %w", err)
	}
	if res.StatusCode == http.StatusOK {
		return nil
	}
	var failure struct{ Msg string }
	_ = json.Unmarshal(read, &failure) // it is valid JSON, see above
	return errors.New(failure.Msg)
}

// send sends a request.
func (c *Client) send(ctx context.Context, method, path, collection string, body []byte) (*http.Response, error) {
	// The host is for HTTP only: all requests go to the socket.
	at := "http://store" + path + "?" + url.Values{"collection": {collection}}.Encode()
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.connError(err)
	}
	return res, nil
}

// connError returns the error of a connection without its URL, which says nothing here.
func (c *Client) connError(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the server that has bolt://%s open has ended, or closed the connection", c.store)
	}
	return err
}

// Upsert implements origin.Importer.
func (c *Client) Upsert(ctx context.Context, collection string,
	docs []bson.Raw) (done origin.UpsertCounts, err error) {
	for len(docs) > 0 {
		n, size := 0, 0
		for n < len(docs) && (n == 0 || size+len(docs[n]) <= maxBatch) {
			size += len(docs[n])
			n++
		}
		var r result
		err := c.call(ctx, http.MethodPost, "/upsert", collection, join(docs[:n]), &r)
		done.Inserted += r.Inserted
		done.Replaced += r.Replaced
		if err != nil {
			return done, err
		}
		docs = docs[n:]
	}
	return done, nil
}

// Retain implements origin.Importer. It calls keep for the ids that the server sends, and sends back those to
// delete.
func (c *Client) Retain(ctx context.Context, collection string, keep func(bson.RawValue) bool) (int, error) {
	unwanted, removed, err := c.unwanted(ctx, collection, keep)
	for len(unwanted) > 0 && err == nil {
		n, size := 0, 0
		for n < len(unwanted) && size < maxBatch {
			size += len(unwanted[n])
			n++
		}
		var r result
		err = c.call(ctx, http.MethodPost, "/remove", collection, join(unwanted[:n]), &r)
		removed, unwanted = removed+r.Removed, unwanted[n:]
	}
	return removed, err
}

// unwanted returns the ids that keep refuses, each in a document, and how many records the server has deleted
// because their ids are damaged.
func (c *Client) unwanted(ctx context.Context, collection string,
	keep func(bson.RawValue) bool) (unwanted []bson.Raw, removed int, err error) {
	res, err := c.send(ctx, http.MethodPost, "/ids", collection, nil)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		var failure struct{ Msg string }
		_ = json.NewDecoder(res.Body).Decode(&failure) // the status says enough
		return nil, 0, errors.New(failure.Msg)
	}
	for {
		doc, err := next(res.Body)
		if err != nil {
			return nil, removed, c.connError(err)
		}
		if n, ok := doc.Lookup("removed").Int64OK(); ok {
			if failure, failed := doc.Lookup("error").StringValueOK(); failed {
				err = errors.New(failure)
			}
			_, _ = io.Copy(io.Discard, res.Body) // its end, so that the connection is used again
			return unwanted, int(n), err
		}
		if id := doc.Lookup("_id"); !keep(id) {
			unwanted = append(unwanted, doc)
		}
	}
}

// Backup writes a copy of the store to a destination. It returns bolt.ErrYielded if the copy gave way to a write.
func (c *Client) Backup(ctx context.Context, to bolt.Destination) error {
	res, err := c.send(ctx, http.MethodGet, "/backup", "", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	size, wrong := strconv.ParseInt(res.Header.Get(sizeHeader), 10, 64)
	if res.StatusCode != http.StatusOK || wrong != nil {
		var failure struct{ Msg string }
		_ = json.NewDecoder(res.Body).Decode(&failure) // there may be none
		return fmt.Errorf("the server sends no copy: %s %s", res.Status, failure.Msg)
	}
	n, err := io.Copy(to(ctx, size), res.Body)
	switch failure := res.Trailer.Get(failedTrailer); {
	case err != nil:
		return c.connError(err)
	case failure == yielded:
		return bolt.ErrYielded
	case failure != "":
		return errors.New(failure)
	case n != size:
		return fmt.Errorf("the server sent %d of %d bytes", n, size)
	}
	return nil
}
