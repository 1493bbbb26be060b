package api

import (
	"context"
	"strconv"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/spectrum"
)

// portfolioSpectrum answers GET /portfolio/spectrum: a summary of each topic, most assignments first. At New Year
// other activities become recent, so an answer is valid for the year. Summaries do not name users, so callers without
// the permission get an empty list.
func (e *Env) portfolioSpectrum(_ context.Context, r Request) (response.Plan, error) {
	list := listing{view: rules.ViewSpectrum, filter: e.topics, page: r.Params.Page()}
	if permitted := e.o.Access.May(r.Viewer, access.PortfolioSpectrum); !permitted || !e.o.Portfolio.Enabled {
		list.filter = namedIn("")
		if !permitted {
			list.restricted = string(access.PortfolioSpectrum)
		}
		return list.rows("nothing", nil), nil
	}
	// The year is that of the institute's zone, not of the server's.
	year := r.Planning.Now().In(e.o.Zone).Year()
	body := func(ctx context.Context, s *view.Snapshot, topics view.Selection) (*response.Body, error) {
		all, err := e.totals(ctx, s)
		if err != nil {
			return nil, err
		}
		return list.join(ctx, response.List(topics.Count(), list.page), topics,
			func(dst []byte, row index.Row) []byte {
				return spectrum.AppendRow(dst, row.Doc(), year, all)
			})
	}
	p := list.plan("spectrum "+strconv.Itoa(year), body)
	p.Period = response.InYear(year, e.o.Zone)
	return p, nil
}

// totals returns the totals of the topics. It returns an error if there are topics but no topic catalogue. The
// totals are a row of the view itself, so they are of the same generation as the rows.
func (e *Env) totals(ctx context.Context, snapshot *view.Snapshot) (all spectrum.Totals, err error) {
	row, err := snapshot.First(ctx, filter.OneOf("_id", spectrum.TotalsID()))
	if err != nil || row == nil {
		return all, err
	}
	if all, _ = spectrum.ReadTotals(row); all.Topics > 0 && !all.Catalogue {
		return all, &rules.Error{Kind: rules.ErrNotFound, Reason: "OpenAlex topics data not found"}
	}
	return all, nil
}
