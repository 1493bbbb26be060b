package auth

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// ClientOptions configures how to find the address of a client behind a proxy.
type ClientOptions struct {
	Header         string         // such as X-Forwarded-For; if empty, the address of the connection counts
	TrustedProxies []netip.Prefix // the addresses and networks of proxies whose Header counts
}

// Addr returns the address of the client that sent a request.
func (a *Authenticator) Addr(c *fiber.Ctx) netip.Addr {
	return a.AddrOf(c.Context().RemoteAddr(), c.Request().Header.PeekAll)
}

// AddrOf is Addr for a request from a peer; values returns those of a header. It reads the header from the end, where
// the last proxy has written, up to the first address that does not belong to a proxy: any client can write the
// addresses before it.
func (a *Authenticator) AddrOf(peer net.Addr, values func(header string) [][]byte) netip.Addr {
	o, addr := a.options.Client, peerAddr(peer)
	if o.Header == "" || !within(o.TrustedProxies, addr) {
		return addr
	}
	for _, line := range slices.Backward(values(o.Header)) {
		for _, hop := range slices.Backward(strings.Split(string(line), ",")) {
			next, ok := parseHop(strings.TrimSpace(hop))
			if !ok {
				return addr
			}
			if addr = next; !within(o.TrustedProxies, addr) {
				return addr
			}
		}
	}
	return addr
}

// Scheme returns https if the connection uses TLS or a trusted proxy says so, and http otherwise.
func (a *Authenticator) Scheme(c *fiber.Ctx) string {
	proxies := a.options.Client.TrustedProxies
	if c.Context().IsTLS() || len(proxies) > 0 && within(proxies, peerAddr(c.Context().RemoteAddr())) &&
		strings.EqualFold(c.Get(fiber.HeaderXForwardedProto), "https") {
		return "https"
	}
	return "http"
}

func within(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// parseHop parses an address with or without a port, in the form that proxies write.
func parseHop(text string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return plain(ap.Addr()), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return plain(addr), err == nil
}

// peerAddr returns the IP address of a peer. It returns the zero Addr for connections without a network, as in tests.
func peerAddr(peer net.Addr) netip.Addr {
	if tcp, ok := peer.(*net.TCPAddr); ok {
		return plain(tcp.AddrPort().Addr())
	}
	ap, _ := netip.ParseAddrPort(peer.String())
	return plain(ap.Addr())
}

// plain returns an address in comparable form: without a zone, and IPv4 not mapped to IPv6.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// clientBits is the part of an IPv6 address that identifies a client, which usually has the whole network.
const clientBits = 64

// clientOf returns the network of a client, or the zero Prefix for the zero Addr.
func clientOf(addr netip.Addr) netip.Prefix {
	prefix, _ := addr.Prefix(min(addr.BitLen(), clientBits)) // fails for the zero Addr
	return prefix
}
