// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package visitor looks at Berth's pages as a browser does, without drawing them.
package visitor

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// Visitor has one page open.
type Visitor struct {
	Client *http.Client
	// Site is the address below which the pages are, Page the one that is looked at.
	Site, Page string
	// Token is sent with each request, nothing if empty.
	Token string
	// Loads counts how often the page was loaded.
	Loads *atomic.Int64
}

// Follow does what the script of a page does until the context ends: it loads the page whenever the
// stream tells of another version, and asks for the next stream when one ends. The error is the
// first answer that is none.
func (v *Visitor) Follow(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := v.stream(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// stream follows one stream to its end.
func (v *Visitor) stream(ctx context.Context) error {
	response, err := v.Get(ctx, "events")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	last := ""
	for lines.Scan() {
		version, found := strings.CutPrefix(lines.Text(), "data: ")
		if !found || version == last {
			continue
		}
		last = version
		if err := v.load(ctx); err != nil {
			return err
		}
	}
	return nil // the server ends a stream now and then
}

func (v *Visitor) load(ctx context.Context) error {
	page, err := v.Get(ctx, v.Page)
	if err != nil {
		return err
	}
	defer page.Body.Close()
	if _, err = io.Copy(io.Discard, page.Body); err != nil {
		return fmt.Errorf("reading %s: %w", v.Page, err)
	}
	v.Loads.Add(1)
	return nil
}

// Get asks for a page. The caller closes the body of the answer.
func (v *Visitor) Get(ctx context.Context, page string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.Site+page, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", page, err)
	}
	if v.Token != "" {
		request.Header.Set("Authorization", "Bearer "+v.Token)
	}
	response, err := v.Client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", page, err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s answers %s", page, response.Status)
	}
	return response, nil
}
