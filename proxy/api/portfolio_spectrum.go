package api

import (
	"context"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/spectrum"
)

const catalogueMissing = "OpenAlex topics data not found"

// topicsOf selects the rows of topics: that of the totals is the only one whose
// _id is no text.
func topicsOf() bson.D { return bson.D{{Key: "_id", Value: bson.D{{Key: "$type", Value: "string"}}}} }

// portfolioSpectrum answers GET /portfolio/spectrum: a summary of each topic,
// most assignments first. Which activities are recent changes at New Year, so an
// answer holds for the year in which it is given.
//
// Summaries are linked to nobody. For callers without the permission they are
// restricted like every list: to nothing (API.md: Authentication, 6).
func (e *Env) portfolioSpectrum(ctx context.Context, r Request) (response.Plan, error) {
	g, err := r.Params.Page()
	if err != nil {
		return response.Plan{}, err
	}
	if !e.o.Access.May(r.Viewer, access.PortfolioSpectrum) {
		p := nothing(rules.ViewSpectrum, g)
		p.Restricted = string(access.PortfolioSpectrum)
		return p, nil
	}
	if e.o.SpectrumOff {
		return nothing(rules.ViewSpectrum, g), nil
	}
	now := e.o.Now().In(e.o.Zone)
	list := listing{view: rules.ViewSpectrum, filter: e.topics, page: g}
	p := list.rows("spectrum "+strconv.Itoa(now.Year()), func(dst []byte, row index.Row) []byte {
		return spectrum.AppendRow(dst, row.Doc(), now.Year())
	})
	rows := p.Build
	p.Build = func(ctx context.Context, snapshot *view.Snapshot) (*response.Body, error) {
		if err := e.checkCatalogue(ctx, snapshot); err != nil {
			return nil, err
		}
		return rows(ctx, snapshot)
	}
	newYear := func(year int) time.Time { return time.Date(year, time.January, 1, 0, 0, 0, 0, now.Location()) }
	p.Once, p.Since, p.Until = true, newYear(now.Year()), newYear(now.Year()+1)
	return p, nil
}

// nothing plans an empty list.
func nothing(viewName string, g query.Page) response.Plan {
	query := "nothing " + strconv.Itoa(g.Limit) + " " + strconv.Itoa(g.Offset)
	return response.Plan{View: viewName, Query: query, Build: func(context.Context, *view.Snapshot) (*response.Body, error) {
		return response.Empty(g), nil
	}}
}

// checkCatalogue fails where there are topics but no catalogue to enrich them
// from; without topics there is nothing that it could miss.
func (e *Env) checkCatalogue(ctx context.Context, snapshot *view.Snapshot) error {
	row, err := e.firstRow(ctx, snapshot, bson.D{{Key: "_id", Value: spectrum.TotalsID()}})
	if err != nil || row == nil {
		return err
	}
	if totals, _ := spectrum.ReadTotals(row); totals.Topics > 0 && !totals.Catalogue {
		return &rules.Error{Kind: rules.ErrNotFound, Reason: catalogueMissing}
	}
	return nil
}
