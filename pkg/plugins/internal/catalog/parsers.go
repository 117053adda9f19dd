// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"time"

	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
)

// Parsers is an immutable picture of all FeedParsers.
type Parsers struct {
	// Rules are the FeedParsers, in any order.
	Rules []berthv1alpha1.FeedParser
}

// ParserCatalog keeps the newest Parsers. It is safe for concurrent use.
type ParserCatalog struct {
	*board[Parsers]
}

// NewParserCatalog is New for FeedParsers.
func NewParserCatalog(
	client versioned.Interface, clk clock.WithTicker, patience time.Duration, onChange func(before, after *Parsers),
) (*ParserCatalog, error) {
	c := &ParserCatalog{newBoard("FeedParsers", clk, patience, onChange)}
	s, err := newSource("FeedParser", listWatch(client.BerthV1alpha1().FeedParsers()), &berthv1alpha1.FeedParser{}, clk, specChanged, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of FeedParsers: %w", err)
	}
	c.sources = []*source{s}
	c.build = func(*Parsers) *Parsers {
		objects := typed[*berthv1alpha1.FeedParser](s)
		p := &Parsers{Rules: make([]berthv1alpha1.FeedParser, len(objects))}
		for i, object := range objects {
			p.Rules[i] = *object
		}
		return p
	}
	return c, nil
}
