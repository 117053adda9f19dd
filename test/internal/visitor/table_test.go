// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package visitor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRowsOf(t *testing.T) {
	const page = `<!DOCTYPE html><body><table id="others"><tbody><tr><td>x</td></tr></tbody></table>
<table id="sites"><thead><tr><th>Site</th></tr></thead><tbody>
<tr><td class=""><a href="/ui/clusters/a">a</a></td><td> 67% <progress value="2" max="3"></progress></td></tr>
<tr><td>b</td><td>-</td></tr></tbody></table></body>`
	for table, want := range map[string][][]string{"sites": {{"a", "67%"}, {"b", "-"}}, "others": {{"x"}}} {
		got, err := rowsOf(strings.NewReader(page), table)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("table %s (-want +got):\n%s", table, diff)
		}
	}
	if _, err := rowsOf(strings.NewReader(page), "pools"); err == nil {
		t.Error("a table is found that is not there")
	}
}
