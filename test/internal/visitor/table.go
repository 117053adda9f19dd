// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package visitor

import (
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Rows returns the texts of the cells of a page's table, by its id.
func (v *Visitor) Rows(ctx context.Context, page, table string) ([][]string, error) {
	response, err := v.Get(ctx, page)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return rowsOf(response.Body, table)
}

// rowsOf returns the texts of the cells of the body of a table.
func rowsOf(document io.Reader, table string) ([][]string, error) {
	root, err := html.Parse(document)
	if err != nil {
		return nil, fmt.Errorf("reading a page: %w", err)
	}
	for found := range root.Descendants() {
		if found.DataAtom != atom.Table || !has(found, "id", table) {
			continue
		}
		var rows [][]string
		for n := range found.Descendants() {
			switch n.DataAtom {
			case atom.Tr:
				if n.Parent.DataAtom == atom.Tbody {
					rows = append(rows, nil)
				}
			case atom.Td:
				rows[len(rows)-1] = append(rows[len(rows)-1], textOf(n))
			}
		}
		return rows, nil
	}
	return nil, fmt.Errorf("the page has no table %q", table)
}

func has(n *html.Node, key, value string) bool {
	for _, a := range n.Attr {
		if a.Key == key && a.Val == value {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var text strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			text.WriteString(child.Data)
		}
	}
	return strings.TrimSpace(text.String())
}

// Text returns the text of a page, with a space between its parts.
func (v *Visitor) Text(ctx context.Context, page string) (string, error) {
	response, err := v.Get(ctx, page)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	root, err := html.Parse(response.Body)
	if err != nil {
		return "", fmt.Errorf("reading a page: %w", err)
	}
	var text []string
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			text = append(text, strings.Fields(n.Data)...)
		}
	}
	return strings.Join(text, " "), nil
}
