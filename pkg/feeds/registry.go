// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// Registry knows the parser of each kind. It does not change once it is made and is safe for
// concurrent use.
type Registry struct {
	parsers map[schema.GroupKind]PluginFactory
}

// Accept sorts rules into those that can be used together and, by name, what is wrong with the
// others. Of several rules for a kind the oldest is used, then the one with the smaller name; for
// the others the error wraps ErrShadowed.
func Accept(rules []berthv1alpha1.FeedParser) (accepted []berthv1alpha1.FeedParser, refused map[string]error) {
	sorted := slices.SortedFunc(slices.Values(rules), func(a, b berthv1alpha1.FeedParser) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	refused = map[string]error{}
	first := map[schema.GroupKind]string{}
	for i := range sorted {
		kind := groupKindOf(&sorted[i])
		if _, err := newRule(&sorted[i]); err != nil {
			refused[sorted[i].Name] = err
			continue
		}
		if other, taken := first[kind]; taken {
			refused[sorted[i].Name] = fmt.Errorf("FeedParser %.64q for %s is older: it %w", other, kind, ErrShadowed)
			continue
		}
		first[kind] = sorted[i].Name
		accepted = append(accepted, sorted[i])
	}
	return accepted, refused
}

// Disputed returns, by the name of each rule, the names of the others that say something else of
// the same kind, in order. Rules that cannot be understood do not count.
func Disputed(rules []berthv1alpha1.FeedParser) map[string][]string {
	byKind := map[schema.GroupKind][]*berthv1alpha1.FeedParser{}
	for i := range rules {
		if _, err := newRule(&rules[i]); err == nil {
			kind := groupKindOf(&rules[i])
			byKind[kind] = append(byKind[kind], &rules[i])
		}
	}
	disputed := map[string][]string{}
	for _, rivals := range byKind {
		for _, rule := range rivals {
			for _, other := range rivals {
				if !apiequality.Semantic.DeepEqual(rule.Spec, other.Spec) {
					disputed[rule.Name] = append(disputed[rule.Name], other.Name)
				}
			}
		}
	}
	for name := range disputed {
		slices.Sort(disputed[name])
	}
	return disputed
}

// ErrShadowed says that a rule is not used because of another one for the same kind.
var ErrShadowed = errors.New("is used instead")

// NewRegistry returns a registry of rules and parsers. A rule for a kind that also has a parser
// replaces it. An error names the rules or the kind that are wrong: a rule that cannot be
// understood, a second rule for a kind, or a parser that is listed under another kind than its own.
func NewRegistry(rules []berthv1alpha1.FeedParser, parsers map[schema.GroupKind]PluginFactory) (*Registry, error) {
	r := &Registry{parsers: make(map[schema.GroupKind]PluginFactory, len(rules)+len(parsers))}
	for kind, parser := range parsers {
		if err := checkParser(kind, parser); err != nil {
			return nil, fmt.Errorf("the parser for %s: %w", kind, err)
		}
	}
	compiled := make(map[schema.GroupKind]PluginFactory, len(rules))
	for i := range rules {
		parser, err := newRule(&rules[i])
		if err != nil {
			return nil, fmt.Errorf("FeedParser %.64q: %w", rules[i].Name, err)
		}
		kind := groupKindOf(&rules[i])
		if other, twice := compiled[kind]; twice {
			return nil, fmt.Errorf("FeedParsers %.64q and %.64q are both for %s: only one can be used",
				other.Name(), rules[i].Name, kind)
		}
		compiled[kind] = parser
	}
	maps.Copy(r.parsers, parsers)
	maps.Copy(r.parsers, compiled)
	return r, nil
}

func checkParser(kind schema.GroupKind, parser PluginFactory) error {
	switch {
	case parser == nil:
		return errors.New("is nil")
	case parser.Kind() != kind.Kind:
		return fmt.Errorf("reads objects of kind %.64q", parser.Kind())
	case parser.Name() == "" || parser.Name() == Unknown:
		return fmt.Errorf("must not have the name %q", parser.Name())
	}
	return nil
}

// ParserFor returns the parser for objects of a kind in any version of its group, never nil: that
// of a kind nobody reads has the name Unknown.
func (r *Registry) ParserFor(kind schema.GroupKind) PluginFactory {
	if parser, known := r.parsers[kind]; known {
		return parser
	}
	return unknown{}
}

// Read reads an object, written as JSON or YAML. An error names the object if it is known by then,
// and says what is wrong with it.
func (r *Registry) Read(raw []byte) (Feed, error) {
	object, err := manifest.Decode(raw)
	if err != nil {
		return Feed{}, err
	}
	id, err := object.Identity()
	if err != nil {
		return Feed{}, err
	}
	parser := r.ParserFor(id.GroupKind())
	feed := Feed{Identity: id, Parser: parser.Name()}
	feed.DesiredReplicas, feed.ReplicaRequirements, feed.ReplicaJSONPath, err = parser.Parser(raw)
	if errors.Is(err, errNotRecognized) {
		return Feed{Identity: id, Parser: Unknown}, nil
	}
	if reader, ok := parser.(ComponentReader); ok && err == nil {
		feed.Components, err = reader.Components(raw)
	}
	if err == nil {
		err = feed.check()
	}
	if err != nil {
		return Feed{}, fmt.Errorf("%.64s %.64q: %w", id.Kind, id.Name, err)
	}
	return feed, nil
}

// check refuses what only a parser that others wrote can return.
func (f *Feed) check() error {
	if err := checkCount(f.DesiredReplicas, f.ReplicaJSONPath); err != nil {
		return fmt.Errorf("parser %q %w", f.Parser, err)
	}
	if len(f.Components) > maxComponents {
		return fmt.Errorf("parser %q returned %d components", f.Parser, len(f.Components))
	}
	for i := range f.Components {
		c := &f.Components[i]
		if len(validation.IsDNS1123Label(c.Name)) > 0 {
			return fmt.Errorf("parser %q returned a component that has the name %.64q", f.Parser, c.Name)
		}
		if err := checkCount(c.DesiredReplicas, c.ReplicaJSONPath); err != nil {
			return fmt.Errorf("parser %q, component %q: %w", f.Parser, c.Name, err)
		}
	}
	return nil
}

func checkCount(replicas *int32, path string) error {
	if replicas != nil && *replicas < 0 {
		return fmt.Errorf("returned %d replicas", *replicas)
	}
	if replicas == nil && path == "" {
		return nil
	}
	if _, err := manifest.ParsePointer(path); err != nil {
		return fmt.Errorf("returned a path that cannot be used: %w", err)
	}
	return nil
}
