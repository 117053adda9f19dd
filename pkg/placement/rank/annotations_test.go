// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/rank"
)

func TestParseAnnotations(t *testing.T) {
	const label, metric, resource = "berth.dev/cluster-label-constraint", "berth.dev/cluster-metric-constraint", "berth.dev/cluster-resource-constraint"
	tests := map[string]struct {
		annotations map[string]string
		want        []string
		wantRanked  bool
		wantErr     string
	}{
		"none":               {annotations: map[string]string{"other": "x"}},
		"one of each":        {annotations: map[string]string{label: "a is b", metric: "c<5", resource: " d.e "}, want: []string{"a is b", "c lesser than 5", "d.e"}},
		"a list of lists":    {annotations: map[string]string{label: "a in (b, c); d not in (e)"}, want: []string{"a in (b, c)", "d not in (e)"}},
		"lines of any kind":  {annotations: map[string]string{label: "\na is b\r\n\r\nc is d;;"}, want: []string{"a is b", "c is d"}},
		"a ranking":          {annotations: map[string]string{"berth.dev/cluster-ranking": "metrics"}, wantRanked: true},
		"an unknown ranking": {annotations: map[string]string{"berth.dev/cluster-ranking": "x"}, wantErr: `annotation berth.dev/cluster-ranking: expected "metrics", found "x"`},
		"a mistake far back": {annotations: map[string]string{metric: "ö<1;\nb<c"}, wantErr: "annotation berth.dev/cluster-metric-constraint: column 1: "},
		"its column":         {annotations: map[string]string{metric: "a<1;\nb<c"}, wantErr: "annotation berth.dev/cluster-metric-constraint: column 8: "},
		"no group":           {annotations: map[string]string{resource: "a.b;\n crontabs"}, wantErr: "annotation berth.dev/cluster-resource-constraint: column 7: expected a custom resource"},
		"blanks":             {annotations: map[string]string{resource: " "}, wantErr: "annotation berth.dev/cluster-resource-constraint: column 1: expected"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wish, err := rank.ParseAnnotations(tc.annotations)
			if tc.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.wantErr) {
					t.Errorf("the error is %v, want %s", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, texts(wish)); diff != "" || wish.Ranked != tc.wantRanked {
				t.Errorf("ranked %t, want %t; constraints (-want +got):\n%s", wish.Ranked, tc.wantRanked, diff)
			}
		})
	}
}

func texts(wish *rank.Wish) []string {
	var found []string
	for _, c := range wish.Constraints.Labels {
		found = append(found, c.String())
	}
	for _, c := range wish.Constraints.Metrics {
		found = append(found, c.String())
	}
	return append(found, wish.Constraints.CustomResources...)
}

func FuzzParseAnnotations(f *testing.F) {
	for _, seed := range []string{"a is b", "a<1;b>2\nc in (d,e)", ";", "\r\n", "ö", strings.Repeat("a<1;", 30)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, key := range rank.Annotations {
			wish, err := rank.ParseAnnotations(map[string]string{key: text})
			switch {
			case err != nil && (wish != nil || len(err.Error()) > 500 || !utf8.ValidString(err.Error())):
				t.Errorf("%s: the error is %d bytes long, with a wish %v: %q", key, len(err.Error()), wish, err)
			case err == nil && len(texts(wish)) == 0 && !wish.Ranked:
				t.Errorf("%s: %q is taken for nothing", key, text)
			case err == nil && len(texts(wish)) > 20:
				t.Errorf("%s: %d constraints", key, len(texts(wish)))
			}
		}
	})
}
