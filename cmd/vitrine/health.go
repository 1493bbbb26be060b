package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"vitrine/configs"
)

// healthCommand is the container's health check: an image without a shell has no other
// program that can send a request.
func healthCommand() *cobra.Command {
	return withConfig("health", func(_ *cobra.Command, _ []string, cfg configs.Config) error {
		client := http.Client{Timeout: 2 * time.Second}
		res, err := client.Get("http://" + reachable(cfg.Listen) + "/healthz")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("server answers %s", res.Status)
		}
		return nil
	}, "listen")
}

// reachable turns an address to listen on into one to connect to: "every interface"
// becomes the loopback.
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
