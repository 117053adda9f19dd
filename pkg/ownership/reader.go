// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// maxRead is how many kinds a Reader lists. Anybody can have pods of any number of kinds.
const maxRead = 100

// Reader knows the owners of kinds beyond the table of package workload as they are at one time,
// for a command that reads once. It lists a kind when a pod is met that an object of that kind
// controls, with the rights of whoever runs the command; where these do not suffice, references are
// taken at their word. It is safe for concurrent use.
type Reader struct {
	directory *Directory
	// lifetime is the context of the command.
	lifetime  context.Context //nolint:containedctx // workload.FurtherSource has none
	namespace string

	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]*listing
}

var _ workload.FurtherSource = &Reader{}

// listing is what a list of the objects of a kind has brought.
type listing struct {
	owners map[types.NamespacedName]*workload.FurtherOwner
	err    error
}

// NewReader returns a Reader of the objects of a namespace, or of all if it is empty, for as long
// as the context lives. Rules returns the FeedParsers.
func NewReader(
	ctx context.Context, config *rest.Config, namespace string,
	rules func(context.Context) ([]berthv1alpha1.FeedParser, error),
) (*Reader, error) {
	directory, err := NewForConfig(config, nil, Options{Rules: rules, Clock: clock.RealClock{}})
	if err != nil {
		return nil, err
	}
	return newReader(ctx, directory, namespace), nil
}

func newReader(ctx context.Context, directory *Directory, namespace string) *Reader {
	return &Reader{
		directory: directory, lifetime: ctx, namespace: namespace, kinds: map[schema.GroupVersionKind]*listing{},
	}
}

// Further implements workload.FurtherSource. It waits for the API server where it must.
func (r *Reader) Further(namespace string, ref *metav1.OwnerReference) (*workload.FurtherOwner, error) {
	object := key{
		schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind), types.NamespacedName{Namespace: namespace, Name: ref.Name}, ref.UID,
	}
	known := r.listingOf(object.GroupVersionKind)
	switch {
	case known == nil, apierrors.IsForbidden(known.err), apierrors.IsUnauthorized(known.err):
		return workload.NotRead{}.Further(namespace, ref)
	case known.err != nil:
		return nil, known.err
	}
	owner := known.owners[object.NamespacedName]
	if owner == nil {
		return nil, fmt.Errorf("%s does not exist: %w", object, workload.ErrUnconfirmed)
	}
	if err := object.confirm(owner); err != nil {
		return nil, err
	}
	return owner, nil
}

// listingOf returns the objects of a kind, nil for one kind too many.
func (r *Reader) listingOf(gvk schema.GroupVersionKind) *listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.kinds[gvk]
	if known == nil && len(r.kinds) < maxRead {
		known = &listing{}
		known.owners, known.err = r.list(gvk)
		r.kinds[gvk] = known
	}
	return known
}

// list asks the API server for the objects of a kind.
func (r *Reader) list(gvk schema.GroupVersionKind) (map[types.NamespacedName]*workload.FurtherOwner, error) {
	k, err := r.directory.find(r.lifetime, gvk)
	switch {
	case err != nil:
		return nil, err
	case k.resource.Resource == "":
		return nil, k.err
	}
	owners := map[types.NamespacedName]*workload.FurtherOwner{}
	page := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		if k.replicas != nil {
			return r.directory.Objects.Resource(k.resource).Namespace(r.namespace).List(ctx, options)
		}
		return r.directory.Metadata.Resource(k.resource).Namespace(r.namespace).List(ctx, options)
	}
	err = pager.New(page).EachListItem(r.lifetime, metav1.ListOptions{}, func(object runtime.Object) error {
		if owner := k.owner(object); owner != nil {
			owners[types.NamespacedName{Namespace: owner.GetNamespace(), Name: owner.GetName()}] = owner
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", k.resource.GroupResource(), err)
	}
	return owners, nil
}
