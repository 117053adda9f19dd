// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/names"
)

// work looks up what the queue holds until it is shut down.
func (d *Directory) work(ctx context.Context) {
	for {
		object, ended := d.queue.Get()
		if ended {
			return
		}
		if object.Name == "" {
			d.lookUpKind(ctx, object)
		} else {
			d.lookUp(ctx, object)
		}
		d.queue.Done(object)
	}
}

// errNotRead has references taken at their word.
var _, errNotRead = workload.NotRead{}.Further("", nil)

// lookUpKind finds out about a kind anew, and again after a while if it is one to keep an eye on:
// one that is followed and of which nothing could be learnt, or one that is no longer served.
func (d *Directory) lookUpKind(ctx context.Context, of key) {
	_, err := d.kindOf(ctx, of.GroupVersionKind)
	if ctx.Err() != nil {
		return
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	switch k := d.kinds[of.GroupVersionKind]; {
	case k == nil:
	case k.lost:
		d.queue.AddAfter(of, freshKind)
	case k.informer != nil && err != nil && !errors.Is(err, workload.ErrUnconfirmed):
		d.queue.AddAfter(of, again)
	}
}

// lookUp asks for an object.
func (d *Directory) lookUp(ctx context.Context, object key) {
	if !d.limit(object.Namespace).TryAccept() {
		d.queue.AddAfter(object, throttled)
		return
	}
	k, err := d.kindOf(ctx, object.GroupVersionKind)
	var owner *workload.FurtherOwner
	if err == nil {
		owner, err = k.get(ctx, d, object)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil && !errors.Is(err, workload.ErrUnconfirmed) && !errors.Is(err, errNotRead):
		klog.FromContext(ctx).V(2).Info("Cannot look up an owner now", "owner", object, "err", err)
		if d.awaited(object) {
			d.queue.AddAfter(object, again)
		}
	default:
		d.record(object, owner, err)
	}
}

// awaited reports whether somebody has asked for the object a short while ago.
func (d *Directory) awaited(object key) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	l := d.lookups[object]
	return l != nil && d.Clock.Since(l.tried) < patience
}

// limit returns what limits the requests for a namespace.
func (d *Directory) limit(namespace string) flowcontrol.PassiveRateLimiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.limits[namespace]
	if l == nil {
		if len(d.limits) >= maxKinds {
			clear(d.limits)
		}
		l = flowcontrol.NewTokenBucketPassiveRateLimiter(perSecond, burst)
		d.limits[namespace] = l
	}
	return l
}

// record keeps an answer, and tells if it is another one than before.
func (d *Directory) record(object key, owner *workload.FurtherOwner, err error) {
	d.mu.Lock()
	l := d.lookups[object]
	if l == nil { // it has been forgotten
		l = &lookup{asked: d.Clock.Now()}
		d.lookups[object] = l
	}
	changed := l.answered.IsZero() || !same(l.owner, owner)
	l.owner, l.err, l.answered = owner, err, d.Clock.Now()
	d.mu.Unlock()
	if changed {
		d.changed(object.Namespace, object.uid)
	}
}

// get asks the API server for an object. The error wraps ErrUnconfirmed if that is its answer, and
// is errNotRead if the reference is to be taken at its word.
func (k *kind) get(ctx context.Context, d *Directory, object key) (*workload.FurtherOwner, error) {
	var found any
	var err error
	if k.replicas != nil {
		found, err = d.Objects.Resource(k.resource).Namespace(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
	} else {
		found, err = d.Metadata.Resource(k.resource).Namespace(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%s does not exist: %w", object, workload.ErrUnconfirmed)
	case apierrors.IsForbidden(err) && d.AtTheirWord:
		return nil, errNotRead
	case apierrors.IsForbidden(err):
		err := fmt.Errorf("berth may not get %s, which the ClusterRole berth-owner-reader would allow: %w",
			k.resource.GroupResource(), workload.ErrUnconfirmed)
		d.note(k, err)
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("getting %s: %w", object, err)
	}
	d.note(k, nil)
	owner := k.owner(found)
	if err := object.confirm(owner); err != nil {
		return nil, err
	}
	return owner, nil
}

// confirm returns an error that wraps ErrUnconfirmed if the owner is not the one that is meant.
func (k key) confirm(owner *workload.FurtherOwner) error {
	if owner == nil || owner.GetUID() != k.uid {
		return fmt.Errorf("%s is not the one with UID %s: %w", k, k.uid, workload.ErrUnconfirmed)
	}
	return nil
}

// owner cuts an object down to what is kept of it, nil for what is no object.
func (k *kind) owner(object any) *workload.FurtherOwner {
	meta, ok := object.(metav1.Object)
	if !ok {
		return nil
	}
	owner := &workload.FurtherOwner{Object: &metav1.ObjectMeta{
		Namespace: meta.GetNamespace(), Name: meta.GetName(), UID: meta.GetUID(), ResourceVersion: meta.GetResourceVersion(),
		Labels: meta.GetLabels(), OwnerReferences: meta.GetOwnerReferences(),
	}}
	if whole, ok := object.(*unstructured.Unstructured); ok && k.replicas != nil {
		wants, err := k.replicas(whole)
		if err != nil {
			owner.Unreadable = names.ClipTo(err.Error(), maxReason)
		}
		owner.Components = wants.Components
		if wants.Replicas != nil {
			owner.Replicas, owner.ReplicasKnown = *wants.Replicas, true
		}
	}
	return owner
}
