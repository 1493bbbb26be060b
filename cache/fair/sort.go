package fair

import (
	"context"
	"iter"
	"slices"
)

// Checked yields items in the context's turn: it calls Turn.Check before each of them, because the caller may work on
// one for a long time, and ends with the error of Check. Iterators over the rows of a view are made with it.
func Checked[T any](ctx context.Context, items iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		turn := TurnOf(ctx)
		for item, err := range items {
			if err == nil {
				err = turn.Check(ctx)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// checkEvery is how many steps of about ten nanoseconds Pace takes between two checks, so that they cost next to
// nothing.
const checkEvery = 1 << 12

// Pace returns a function for work in many steps of a few nanoseconds each, such as skipping rows or counting values:
// called before each step, it sometimes calls Turn.Check.
func Pace(ctx context.Context) func() error {
	turn, steps := TurnOf(ctx), 0
	return func() error {
		if steps++; steps%checkEvery != 0 {
			return nil
		}
		return turn.Check(ctx)
	}
}

// sortPart is how many items are sorted, and mergePart how many are merged, between two checks of the turn.
const sortPart, mergePart = 2048, 256

// Sort sorts items in the context's turn, and leaves equal items in their order. Several processors sort parts, which
// are then merged. While it merges, it holds memory for as many items again. The items are in no order after an
// error, which is that of Turn.Check.
func Sort[T any](ctx context.Context, items []T, compare func(a, b T) int) error {
	return SortParts(ctx, items, func(part []T) { slices.SortStableFunc(part, compare) }, compare)
}

// SortParts is Sort for callers that know a faster way to sort a part.
func SortParts[T any](ctx context.Context, items []T, sort func(part []T), compare func(a, b T) int) error {
	turn, n := TurnOf(ctx), len(items)
	if err := turn.Check(ctx); err != nil || n < 2 {
		return err
	}
	err := Each(ctx, (n+sortPart-1)/sortPart, func(i int) error {
		sort(items[i*sortPart : min((i+1)*sortPart, n)])
		return nil
	})
	if err != nil || n <= sortPart {
		return err
	}
	from, to := items, make([]T, 0, n)
	for width := sortPart; width < n; width *= 2 {
		for first := 0; first < n; first += 2 * width {
			a, b := from[first:min(first+width, n)], from[min(first+width, n):min(first+2*width, n)]
			for len(a) > 0 && len(b) > 0 {
				if len(to)%mergePart == 0 {
					if err := turn.Check(ctx); err != nil {
						return err
					}
				}
				if compare(a[0], b[0]) <= 0 {
					to, a = append(to, a[0]), a[1:]
				} else {
					to, b = append(to, b[0]), b[1:]
				}
			}
			to = append(append(to, a...), b...)
		}
		from, to = to, from[:0]
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
	return nil
}
