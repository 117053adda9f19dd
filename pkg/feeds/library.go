// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"io/fs"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"berth.dev/berth/manifests"
)

// libraryRule is a rule of the library, made ready for use.
type libraryRule struct {
	*rule

	kind schema.GroupKind
	id   string
}

// library returns the rules in manifests/parsers, by which Berth divides the pods of some operators
// without a FeedParser. They are tested, so nothing can be wrong with them.
var library = sync.OnceValue(func() []libraryRule {
	folder, err := fs.Sub(manifests.Parsers, "parsers")
	if err != nil {
		panic(err)
	}
	rules, err := LoadFeedParsers(folder)
	if err != nil {
		panic(err)
	}
	known := make([]libraryRule, 0, len(rules))
	for i := range rules {
		made, err := newRule(&rules[i])
		if err != nil {
			panic(err)
		}
		known = append(known, libraryRule{rule: made, kind: groupKindOf(&rules[i]), id: "library " + rules[i].Name})
	}
	return known
})
