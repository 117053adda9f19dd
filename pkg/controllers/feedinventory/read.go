// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
)

// maxRequirements bounds what one feed says it needs, and maxTogether what all do, in bytes of
// JSON: they must fit into one object.
const maxRequirements, maxTogether = 10 << 10, 100 * maxRequirements

// limit takes feeds for invalid that say more than their part of what fits into one object. It
// matters only where Helm releases make many feeds.
func limit(findings []finding) {
	share := maxTogether / max(1, len(findings))
	if share >= maxRequirements {
		return
	}
	for i := range findings {
		size, err := json.Marshal(findings[i].order)
		if err == nil && len(size) <= share {
			continue
		}
		feed := findings[i].order.Feed
		findings[i] = trouble(berthv1alpha1.ReasonFeedInvalid,
			"what a replica needs takes %d bytes to tell; at most %d are recorded of so many feeds", len(size), share)
		findings[i].order.Feed = feed
	}
}

// finding is what is known of a feed.
type finding struct {
	order  berthv1alpha1.FeedOrder
	parser string
	reason string // of the condition Parsed
	// message says in the user's words why the feed is not parsed; empty if it is.
	message string
	// transient says that the feed may be as it was when it was read last: what is known of it stays.
	transient bool
}

// parsed reports whether it is known what the feed needs.
func (f *finding) parsed() bool { return f.message == "" }

// mayEnd reports whether the feed may be understood later without an event. A feed that does not
// exist yet, or that is invalid, makes one when that changes.
func (f *finding) mayEnd() bool {
	return !f.parsed() && f.reason != berthv1alpha1.ReasonFeedNotFound && f.reason != berthv1alpha1.ReasonFeedInvalid
}

func trouble(reason, format string, args ...any) finding {
	return finding{reason: reason, message: fmt.Sprintf(format, args...)}
}

// remembered is a finding and of what it was made.
type remembered struct {
	uid             types.UID
	resourceVersion string
	parsers         int64
	finding         finding
}

// targetOf returns the object that a feed names. What it returns beside an error is why there is
// none.
func targetOf(mapper apimeta.RESTMapper, namespace string, feed *berthv1alpha1.Feed) (target, *finding) {
	because := func(f finding) (target, *finding) { return target{}, &f }
	if feed.Namespace != "" && feed.Namespace != namespace {
		return because(trouble(berthv1alpha1.ReasonFeedForeignNamespace,
			"a Subscription can list objects of its own namespace only, not of %q", feed.Namespace))
	}
	gvk := schema.FromAPIVersionAndKind(feed.APIVersion, feed.Kind)
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	switch {
	case apimeta.IsNoMatchError(err):
		return because(notServed(feed))
	case err != nil:
		f := trouble(berthv1alpha1.ReasonFeedUnreadable, "asking the API server for the kind: %.200s", err)
		f.transient = true
		return because(f)
	case mapping.Scope.Name() != apimeta.RESTScopeNameNamespace:
		return because(trouble(berthv1alpha1.ReasonFeedForeignNamespace,
			"objects of kind %s are in no namespace: a Subscription can list objects of its own namespace only", feed.Kind))
	}
	return target{mapping.Resource, types.NamespacedName{Namespace: namespace, Name: feed.Name}}, nil
}

func notServed(feed *berthv1alpha1.Feed) finding {
	return trouble(berthv1alpha1.ReasonFeedKindNotServed, "the API server knows no %s in %s yet", feed.Kind, feed.APIVersion)
}

// read returns what is known of a feed that has a target. It remembers what it read in the memory
// of the Subscription. The error is errPending if that is not known yet.
func (r *Reconciler) read(
	ctx context.Context, feed *berthv1alpha1.Feed, t target, before, now map[target]remembered,
) (finding, error) {
	meta, err := r.watches.find(t)
	if err != nil {
		var pending errPending
		if errors.As(err, &pending) && pending.left > 0 {
			return finding{}, err
		}
		return unreadable(feed, err), nil
	}
	if meta == nil {
		return trouble(berthv1alpha1.ReasonFeedNotFound, "the %s does not exist yet", feed.Kind), nil
	}
	registry, version := r.parsers.current()
	if known, ok := before[t]; ok && known.uid == meta.UID && known.resourceVersion == meta.ResourceVersion && known.parsers == version {
		now[t] = known
		return known.finding, nil
	}
	f := r.parse(ctx, feed, t, registry)
	if !f.transient {
		now[t] = remembered{meta.UID, meta.ResourceVersion, version, f}
	}
	return f, nil
}

// unreadable says why objects of a kind cannot be read.
func unreadable(feed *berthv1alpha1.Feed, err error) finding {
	switch {
	case apierrors.IsNotFound(err):
		return notServed(feed)
	case apierrors.IsForbidden(err):
		return trouble(berthv1alpha1.ReasonFeedForbidden,
			"Berth may not read objects of kind %s: give the ClusterRole berth-feed-reader the verbs get, list and watch", feed.Kind)
	}
	f := trouble(berthv1alpha1.ReasonFeedUnreadable, "%.200s", err)
	f.transient = true
	return f
}

// parse reads an object that exists. Objects of kinds that nothing reads are none of Berth's
// business: they are not fetched.
func (r *Reconciler) parse(ctx context.Context, feed *berthv1alpha1.Feed, t target, registry *feeds.Registry) finding {
	kind := schema.FromAPIVersionAndKind(feed.APIVersion, feed.Kind).GroupKind()
	if registry.ParserFor(kind).Name() == feeds.Unknown {
		return finding{parser: feeds.Unknown, reason: berthv1alpha1.ReasonCopiedWhole}
	}
	raw, err := fetch(ctx, r.objects, t)
	switch {
	case apierrors.IsNotFound(err):
		return trouble(berthv1alpha1.ReasonFeedNotFound, "the %s does not exist yet", feed.Kind)
	case err != nil:
		return unreadable(feed, err)
	}
	read, err := registry.Read(raw)
	if err != nil {
		return trouble(berthv1alpha1.ReasonFeedInvalid, "%.900s", err)
	}
	f := finding{parser: read.Parser, reason: berthv1alpha1.ReasonFeedParsed, order: berthv1alpha1.FeedOrder{
		DesiredReplicas: read.DesiredReplicas, ReplicaRequirements: read.ReplicaRequirements,
		ReplicaJSONPath: read.ReplicaJSONPath, Components: read.Components,
	}}
	if read.Parser == feeds.Unknown {
		f.reason = berthv1alpha1.ReasonCopiedWhole
	}
	if size, err := json.Marshal(f.order); err != nil || len(size) > maxRequirements {
		return trouble(berthv1alpha1.ReasonFeedInvalid,
			"what a replica needs takes %d bytes to tell; at most %d are recorded", len(size), maxRequirements)
	}
	return f
}

func fetch(ctx context.Context, objects dynamic.Interface, t target) ([]byte, error) {
	object, err := objects.Resource(t.resource).Namespace(t.Namespace).Get(ctx, t.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	object.SetManagedFields(nil)
	return object.MarshalJSON()
}
