package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vitrine/configs"
	"vitrine/proxy/auth"
)

// tokenCommand signs a session token, so that an operator can see what a user sees. The token has the claims that
// the configuration requires, so it counts wherever a session of that secret does. With a public key there is no
// secret to sign with: only the other application has the private key.
func tokenCommand() *cobra.Command {
	var user, secret string
	var life time.Duration
	cmd := withConfig("token", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		session := cfg.Auth.Session
		// An empty --secret is refused: a script whose variable is unset must not get a token that counts here.
		if !cmd.Flags().Changed("secret") {
			secret = session.JWTSecret.Reveal()
		}
		if secret == "" {
			return errors.New("no secret to sign with: give --secret or set auth.session.jwt_secret")
		}
		token, err := auth.MintToken(user, []byte(secret),
			auth.SessionOptions{Issuer: session.Issuer, Audience: session.Audience, Type: session.Type}, time.Now(),
			life)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
		return err
	}, "store")
	cmd.Flags().StringVar(&user, "user", "", "`NAME` of the user the token is for")
	cmd.Flags().StringVar(&secret, "secret", "",
		"`SECRET` to sign with, which others can read in the list of processes; default: auth.session.jwt_secret")
	cmd.Flags().DurationVar(&life, "for", time.Hour, "how long the token is valid")
	_ = cmd.MarkFlagRequired("user") // cannot fail: the flag exists
	return cmd
}
