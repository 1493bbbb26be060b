package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/configs"
)

// healthCommand is the container's health check: an image without a shell has no other program for it. Two seconds
// are below the usual time limits of container health checks, so the reason is printed before the check is killed.
// /livez says that the process answers; /readyz, for balancers, says whether it has its views.
func healthCommand() *cobra.Command {
	return withConfig("health", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		return askServer(ctx, cfg.Listen, "/livez", "", nil, nil)
	}, "listen")
}

// askServer reads JSON from a server on this machine, at a path of the listener with an address. It sends a POST if
// there is a body, or else a GET, with headers as name, value pairs. A status other than 200 is an error. If answer
// is nil, it does not read the body; to an io.Writer it copies the body.
//
// The server's own text is the error if there is one, so that a command says the same whether it or the server did
// the work. The address of a listener may be that of every interface, so reachable turns it into one of this
// machine: the token must not leave it.
func askServer(ctx context.Context, listen, path, token string, body []byte, answer any, headers ...string) error {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+reachable(listen)+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode != http.StatusOK:
		var failure struct{ Msg string }
		_ = json.NewDecoder(res.Body).Decode(&failure) // ignore the error: the status says enough
		err = errors.New(cmp.Or(failure.Msg, res.Status))
	case answer != nil:
		if w, lines := answer.(io.Writer); lines {
			_, err = io.Copy(w, res.Body)
		} else {
			err = json.NewDecoder(res.Body).Decode(answer)
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s%s: %w", method, req.URL.Host, req.URL.Path, err) // the query may have a key
	}
	return nil
}

// orServed returns the error of a command on the store, unless that is that a server has the embedded store open, and
// the one at the admin address says that it serves this store. Then it asks the server, as askServer does.
//
// It first compares the name of the store, because the admin address may be that of another server on this machine,
// whose answer would be right for another institute. The commands that use it call it with any error and return
// what it returns; nil stays nil.
func orServed(ctx context.Context, cfg configs.Config, err error, path string, body []byte, answer any,
	headers ...string) error {
	switch {
	case !errors.Is(err, origin.ErrLocked):
		return err
	case cfg.Admin.Listen == "":
		return fmt.Errorf("%w: with the address of its admin listener (admin.listen) the server answers", err)
	}
	// A server on this machine may serve another store: its answer would look right.
	if _, failed := servedStatus(ctx, cfg, "bolt://"+embeddedPath(cfg), storeTime); failed != nil {
		return fmt.Errorf("%w, and %w", err, failed)
	}
	return askServer(ctx, cfg.Admin.Listen, path, cfg.Admin.Token.Reveal(), body, answer, headers...)
}

// reachable turns a listening address into one to connect to: "every interface" becomes the loopback. Example:
// ":8080", "0.0.0.0:8080" and "[::]:8080" all become "localhost:8080".
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
