// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	. "github.com/onsi/ginkgo/v2"
)

// unreadable is an expression for the elements whose text has too little contrast with what is
// behind it: less than the 4.5 that WCAG 2.2 asks for (1.4.3, level AA).
const unreadable = `(() => {
  const parse = c => c.match(/[\d.]+/g).map(Number);
  const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
  };
  const faults = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (!own || !e.checkVisibility()) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faults.push(e.tagName + " " + e.className + " " + contrast.toFixed(2) + ": " + e.innerText.slice(0, 40));
  }
  return faults;
})()`

// spoken are the roles of elements that a screen reader has to name.
var spoken = []string{"link", "button", "textbox", "searchbox", "table", "heading", "columnheader", "navigation", "region"}

// nameless returns the roles of the elements for which a screen reader would have no name.
func (b *browser) nameless() []string {
	GinkgoHelper()
	var faults []string
	for _, node := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if role := textOf(node.Role); !node.Ignored && slices.Contains(spoken, role) && textOf(node.Name) == "" {
			faults = append(faults, role)
		}
	}
	return faults
}

func textOf(value *accessibility.Value) string {
	if value == nil {
		return ""
	}
	return strings.Trim(string(value.Value), `"`)
}
