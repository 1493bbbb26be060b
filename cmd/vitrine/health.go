package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"vitrine/configs"
)

// healthCommand is the container's health check: an image without a shell has no other program for it.
func healthCommand() *cobra.Command {
	return withConfig("health", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		return askServer(ctx, cfg.Listen, "/healthz", "", nil, nil)
	}, "listen")
}

// askServer reads JSON from a server on this machine, at a path of the listener with an address. It sends a POST if
// there is a body, or else a GET. A status other than 200 is an error. If answer is nil, it does not read the body.
func askServer(ctx context.Context, listen, path, token string, body []byte, answer any) error {
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
		err = json.NewDecoder(res.Body).Decode(answer)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, req.URL, err)
	}
	return nil
}

// reachable turns a listening address into one to connect to: "every interface" becomes the loopback.
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
