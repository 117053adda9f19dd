// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/cmd/internal/flagtest"
)

// pods returns pods by their names, each on the node behind the sign @.
func pods(texts ...string) []corev1.Pod {
	all := make([]corev1.Pod, len(texts))
	for i, text := range texts {
		name, node, _ := strings.Cut(text, "@")
		all[i] = corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: corev1.PodSpec{NodeName: node}}
	}
	return all
}

func TestStayed(t *testing.T) {
	for name, test := range map[string]struct {
		before, after []corev1.Pod
		want          string
	}{
		"all stay":       {before: pods("a@1", "b@2"), after: pods("b@2", "a@1")},
		"one comes":      {before: pods("a@1"), after: pods("a@1", "b@2")},
		"one moves":      {before: pods("a@1", "b@2"), after: pods("a@1", "b@3"), want: "pod b no longer runs on 2"},
		"one disappears": {before: pods("a@1"), want: "pod a no longer runs on 1"},
	} {
		t.Run(name, func(t *testing.T) {
			flagtest.CheckError(t, stayed(&placement{pods: test.before}, &placement{pods: test.after}), test.want)
		})
	}
}

func TestNewcomers(t *testing.T) {
	for name, test := range map[string]struct {
		before, after []corev1.Pod
		want          []string
	}{
		"none":                 {before: pods("a"), after: pods("a")},
		"one, and one is gone": {before: pods("a", "b"), after: pods("b", "c"), want: []string{"c"}},
		"all":                  {after: pods("a", "b"), want: []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, newcomers(test.before, test.after)); diff != "" {
				t.Errorf("newcomers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareHomes(t *testing.T) {
	before := map[string]string{"beijing": "east", "hangzhou": "east", "wuhan": "west"}
	for name, test := range map[string]struct {
		after                 map[string]string
		wantMoved, wantOthers int
	}{
		"nothing moves":        {after: before},
		"all of the lost one":  {after: map[string]string{"beijing": "west", "hangzhou": "north", "wuhan": "west"}, wantMoved: 2},
		"one that need not":    {after: map[string]string{"beijing": "east", "hangzhou": "east", "wuhan": "east"}, wantOthers: 1},
		"one that nobody took": {after: map[string]string{"hangzhou": "east", "wuhan": "west"}, wantMoved: 1},
	} {
		t.Run(name, func(t *testing.T) {
			moved, others := compareHomes(before, test.after, "east")
			if moved != test.wantMoved || others != test.wantOthers {
				t.Errorf("%d moved and %d others, want %d and %d", moved, others, test.wantMoved, test.wantOthers)
			}
		})
	}
}

func TestCrowdShares(t *testing.T) {
	for _, replicas := range []int64{0, 1, sites, 1000} {
		got, err := crowdShares(replicas)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for i := range sites {
			if i >= 3 && got[siteName(i)] > got[siteName(i-3)] {
				t.Errorf("of %d replicas %s has %d and %s, which has the same weight and comes first, %d",
					replicas, siteName(i), got[siteName(i)], siteName(i-3), got[siteName(i-3)])
			}
			sum += got[siteName(i)]
		}
		if int64(sum) != replicas {
			t.Errorf("the shares of %d replicas add up to %d", replicas, sum)
		}
	}
}

func TestTexts(t *testing.T) {
	if got, want := (shares{"hangzhou": 3, "beijing": 2}).String(), "beijing 2, hangzhou 3"; got != want {
		t.Errorf("shares are written %q, want %q", got, want)
	}
	patch, err := mergePatch(map[string]any{"replicas": 7})
	if err != nil || string(patch) != `{"spec":{"replicas":7}}` {
		t.Errorf("the patch is %s, %v", patch, err)
	}
	var out bytes.Buffer
	if err := printSummary(&out, []string{"1\t2s\tfine", "10\t3s\tgood"}); err != nil {
		t.Fatal(err)
	}
	const want = "\n== What was seen\n\nSTEP  TIME  SEEN\n1     2s    fine\n10    3s    good\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the summary (-want +got):\n%s", diff)
	}
}
