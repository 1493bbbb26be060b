package main

import (
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/configs"
	"vitrine/proxy/explain"
)

// explainCommand explains an answer. The key comes from a file, because the list of processes shows flags.
func explainCommand() *cobra.Command {
	var q explain.Request
	var keyFile string
	var asJSON bool
	cmd := withConfig("explain", func(cmd *cobra.Command, args []string, cfg configs.Config) error {
		q.URL = args[0]
		if keyFile != "" {
			key, err := os.ReadFile(keyFile)
			if err != nil {
				return err
			}
			q.Key = strings.TrimSpace(string(key))
		}
		var e explain.Explanation
		err := offline(cmd.Context(), cfg, func(p *program) (err error) {
			e, err = p.server.Explain(cmd.Context(), q)
			return err
		})
		path := "/admin/explain?" + url.Values{"id": {q.ID}, "user": {q.User}}.Encode()
		err = orServed(cmd.Context(), cfg, err, path, []byte(q.URL), &e, "X-API-Key", q.Key)
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd.OutOrStdout(), e)
		}
		return e.WriteText(cmd.OutOrStdout())
	}, "store", "admin.listen")
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().StringVar(&q.ID, "id", "", "`ID` of the record in question")
	cmd.Flags().StringVar(&q.User, "user", "", "`NAME` of the user of a session that the request has")
	cmd.Flags().StringVar(&keyFile, "key-file", "", "`FILE` with the API key of the request")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
