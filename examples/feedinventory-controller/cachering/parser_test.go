// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cachering_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"berth.dev/berth/examples/feedinventory-controller/cachering"
	"berth.dev/berth/pkg/feeds"
	"berth.dev/berth/pkg/feeds/manifest"
)

// registry is what the controller reads feeds with.
func registry(t testing.TB) *feeds.Registry {
	t.Helper()
	parsers := feeds.BuiltIn()
	parsers[cachering.Kind] = cachering.Parser{}
	r, err := feeds.NewRegistry(nil, parsers)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParserReadsTheBundle(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "feeds", "shop.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	documents, err := manifest.ReadAll(raw)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, document := range documents {
		feed, err := registry(t).Read(document.Raw)
		if err != nil {
			t.Fatal(err)
		}
		if feed.GroupKind() != cachering.Kind {
			continue
		}
		found = true
		if feed.DesiredReplicas == nil || *feed.DesiredReplicas != 6 || feed.ReplicaJSONPath != "/spec/shards" {
			t.Errorf("the ring wants %v at %q", feed.DesiredReplicas, feed.ReplicaJSONPath)
		}
		requests := feed.ReplicaRequirements.Resources.Requests
		if got := requests.Memory().String() + " " + requests.Cpu().String(); got != "96Mi 50m" {
			t.Errorf("a shard requests %s, want the memory of the container and of the cache", got)
		}
	}
	if !found {
		t.Error("there is no ring in the bundle")
	}
}

func TestParserRefuses(t *testing.T) {
	const pods = `"pods":{"spec":{"containers":[{"name":"a"}]}}`
	tests := map[string]struct{ spec, want string }{
		"no shards":                  {"{" + pods + "}", "/spec/shards"},
		"negative shards":            {`{"shards":-1,` + pods + "}", "/spec/shards"},
		"shards in words":            {`{"shards":"three",` + pods + "}", "spec.shards"},
		"no pods":                    {`{"shards":1}`, "/spec/pods"},
		"memory that is none":        {`{"shards":1,"memoryPerShard":"much",` + pods + "}", "/spec/memoryPerShard"},
		"negative memory":            {`{"shards":1,"memoryPerShard":"-1Gi",` + pods + "}", "/spec/memoryPerShard"},
		"memory that takes for ever": {`{"shards":1,"memoryPerShard":"1e-999999999",` + pods + "}", "/spec/memoryPerShard"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := registry(t).Read([]byte(`{"apiVersion":"example.com/v1","kind":"CacheRing","metadata":{"name":"a"},"spec":` + tc.spec + "}"))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestParserLeavesOtherKindsToBerth(t *testing.T) {
	if got := registry(t).ParserFor(schema.GroupKind{Group: "apps", Kind: "Deployment"}).Name(); got != "Deployment" {
		t.Errorf("Deployments are read by %q", got)
	}
}

// FuzzParser checks that whatever a user writes ends in an answer that can be written down, or in
// an error.
func FuzzParser(f *testing.F) {
	f.Add([]byte(`{"kind":"CacheRing","spec":{"shards":3,"memoryPerShard":"1Gi","pods":{"spec":{"containers":[{"name":"a"}]}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		replicas, requirements, path, err := cachering.Parser{}.Parser(raw)
		if err != nil {
			return
		}
		if replicas == nil || *replicas < 0 || path == "" {
			t.Fatalf("replicas %v at %q", replicas, path)
		}
		if _, err := json.Marshal(requirements); err != nil {
			t.Fatal(err)
		}
	})
}
