// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxRows bounds the rows of a table, maxText the characters of one text. What is beyond is
// counted.
const (
	maxRows = 5000
	maxText = 1000
)

// table is what a page shows of several objects.
type table struct {
	ID, Caption string
	Columns     []column
	Rows        []row
	// Hidden is the number of rows that the filter leaves out, Beyond of those that are too many.
	Hidden, Beyond int
	// Empty is said if there are no rows at all.
	Empty string
}

// column is the head of a column. Key is its name in addresses.
type column struct {
	Key, Title string
	// Number is set for columns of numbers, which are aligned to the right.
	Number bool
	// Sorted is ascending or descending, as aria-sort has it, empty if the table is not sorted by it.
	Sorted string
	// Link is the address that sorts by it.
	Link string
}

type row []cell

// cell is a cell of a table, or the value of a fact.
type cell struct {
	Text string
	// Link is where the text leads, empty for nowhere.
	Link string
	// Bar, if not nil, is shown beside the text.
	Bar *bar
	// State is good, bad or empty: it only repeats in color what the text says.
	State string

	order float64
}

// bar is how much there is of something.
type bar struct{ Value, Max int64 }

func text(s string) cell { return cell{Text: bounded(s)} }

func link(s, to string) cell { return cell{Text: bounded(s), Link: to} }

func number[T int | int32 | int64](n T) cell {
	return cell{Text: strconv.FormatInt(int64(n), 10), order: float64(n)}
}

// since is a point in time, in order of age.
func since(t time.Time) cell {
	if t.IsZero() {
		return cell{Text: "-"}
	}
	return cell{Text: t.UTC().Format("2006-01-02 15:04:05"), order: -float64(t.Unix())}
}

// state is a text that is good or bad.
func state(good bool, s string) cell {
	if good {
		return cell{Text: bounded(s), State: "good"}
	}
	return cell{Text: bounded(s), State: "bad"}
}

// bounded cuts a text that may be of any length.
func bounded(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// arrange filters and sorts the rows as the query of an address asks: q is a text that a row has,
// sort is ID.COLUMN, with a minus before it for the other direction.
func (t *table) arrange(query url.Values) {
	total := len(t.Rows)
	if wanted := strings.ToLower(strings.TrimSpace(query.Get("q"))); wanted != "" {
		t.Rows = slices.DeleteFunc(t.Rows, func(r row) bool { return !r.has(wanted) })
	}
	t.Hidden = total - len(t.Rows)
	asked, descending := strings.CutPrefix(query.Get("sort"), "-")
	for i := range t.Columns {
		c := &t.Columns[i]
		key := t.ID + "." + c.Key
		next := key
		if asked == key {
			c.Sorted = "ascending"
			next = "-" + key
			if descending {
				c.Sorted, next = "descending", key
			}
			t.sort(i, descending)
		}
		c.Link = addressWith(query, "sort", next)
	}
	if len(t.Rows) > maxRows {
		t.Beyond = len(t.Rows) - maxRows
		t.Rows = t.Rows[:maxRows]
	}
}

func (t *table) sort(by int, descending bool) {
	slices.SortStableFunc(t.Rows, func(a, b row) int {
		order := cmp.Or(cmp.Compare(a[by].order, b[by].order), strings.Compare(a[by].Text, b[by].Text))
		if descending {
			return -order
		}
		return order
	})
}

// has reports whether a row has a text, which is in lower case.
func (r row) has(wanted string) bool {
	return slices.ContainsFunc(r, func(c cell) bool { return strings.Contains(strings.ToLower(c.Text), wanted) })
}

// addressWith is the query with another value of a parameter.
func addressWith(query url.Values, name, value string) string {
	changed := url.Values{}
	for _, known := range []string{"q", "sort", "reason"} {
		if query.Get(known) != "" {
			changed.Set(known, query.Get(known))
		}
	}
	changed.Set(name, value)
	return "?" + changed.Encode()
}
