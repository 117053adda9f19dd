// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"fmt"
	"slices"

	"golang.org/x/net/html"
)

// inaccessible returns a sentence for each rule of accessibility that a document breaks.
func inaccessible(root *html.Node) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	ids, labels := map[string]int{}, map[string]bool{}
	for n := range root.Descendants() {
		if id := attribute(n, "id"); id != "" {
			ids[id]++
		}
		if n.Data == "label" {
			labels[attribute(n, "for")] = true
		}
	}
	for id, count := range ids {
		if count > 1 {
			fault("the id %q is there %d times", id, count)
		}
	}
	for tag, wanted := range map[string]int{"html": 1, "main": 1, "h1": 1, "header": 1, "title": 1} {
		if got := len(findAll(root, tag)); got != wanted {
			fault("%d elements %s", got, tag)
		}
	}
	if attribute(findAll(root, "html")[0], "lang") == "" {
		fault("the document has no language")
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			faults = append(faults, faultsOf(n, labels, ids)...)
		}
	}
	return faults
}

// faultsOf returns what is wrong with one element.
func faultsOf(n *html.Node, labels map[string]bool, ids map[string]int) []string {
	named := textOf(n) != "" || attribute(n, "aria-label") != ""
	faulty := false
	switch n.Data {
	case "a", "button", "h1", "h2", "th", "caption", "title":
		faulty = !named
	case "input":
		faulty = !labels[attribute(n, "id")]
	case "nav", "section":
		faulty = attribute(n, "aria-label") == "" && ids[attribute(n, "aria-labelledby")] == 0
	case "table":
		faulty = len(findAll(n, "caption")) != 1 ||
			slices.ContainsFunc(findAll(n, "th"), func(th *html.Node) bool { return attribute(th, "scope") == "" })
	case "progress":
		faulty = attribute(n, "aria-hidden") == ""
	}
	if faulty {
		return []string{"an element " + n.Data + " without a name, a caption or a scope"}
	}
	if slices.Contains([]string{"style", "iframe", "object"}, n.Data) || attribute(n, "style")+attribute(n, "onclick") != "" {
		return []string{"the policy forbids " + n.Data + " or one of its attributes"}
	}
	return nil
}
