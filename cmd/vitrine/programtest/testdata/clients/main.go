// A client made by oapi-codegen: each list's rows are typed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, base string) error {
	client, err := NewClientWithResponses(base)
	if err != nil {
		return err
	}
	limit, filter := 3, `{"type":"lecture"}`
	activities, err := client.ActivitiesWithResponse(ctx, &ActivitiesParams{Limit: &limit, Json: &filter})
	if err != nil {
		return err
	}
	rows, err := activities.JSON200.AsActivityRows()
	if err != nil {
		return err
	}
	if len(rows.Data) != limit || *rows.Data[0].Type != "Lectures" {
		return fmt.Errorf("activities: %+v", rows)
	}
	citations, err := client.HtmlWithResponse(ctx, &HtmlParams{Limit: &limit})
	if err != nil {
		return err
	}
	for _, row := range citations.JSON200.Data {
		if row.Html == "" || row.Departments == nil {
			return fmt.Errorf("html: %+v", row)
		}
	}
	columns := []string{"title", "year"}
	found, err := client.SearchActivitiesWithResponse(ctx, &SearchActivitiesParams{Columns: &columns, Limit: &limit})
	if err != nil {
		return err
	}
	fields, err := found.JSON200.AsFoundActivityColumns()
	if err != nil {
		return err
	}
	if title, err := fields.Data[0].Title.AsStoredText0(); err != nil || title == "" {
		return fmt.Errorf("search: %q, %w", title, err)
	}
	topics, err := client.PortfolioSpectrumWithResponse(ctx, &PortfolioSpectrumParams{Limit: &limit})
	if err != nil {
		return err
	}
	if data := topics.JSON200.Data; len(data) != limit || data[0].Share <= 0 || *data[0].Name == "" {
		return fmt.Errorf("spectrum: %+v", data)
	}
	year, words := "2020..", "light"
	about, err := client.ListAboutWithResponse(ctx, ListAboutParamsKindUnit, "ECO.json", &ListAboutParams{Year: &year, Q: &words, Limit: &limit})
	if err != nil {
		return err
	}
	var list PublicList // the client finds it by a media type without parameters
	if err := json.Unmarshal(about.Body, &list); err != nil || len(list.Items) == 0 || len(list.Items) > limit || list.Count < len(list.Items) {
		return fmt.Errorf("a unit's list: %w, %s", err, about.Body)
	}
	wrong, err := client.LevenshteinWithResponse(ctx, &LevenshteinParams{})
	if err != nil {
		return err
	}
	if wrong.JSON400 == nil || wrong.JSON400.Msg == "" {
		return fmt.Errorf("levenshtein without a title: %s", wrong.Body)
	}
	return nil
}
