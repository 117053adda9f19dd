// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/generated/informers/externalversions"
	"berth.dev/berth/pkg/model/workload"
)

// quiet is how long a change is held back for others that come with it: a Deployment that is scaled
// changes dozens of objects within moments.
const quiet = 200 * time.Millisecond

// Watch calls show with the present objects, and again after changes, until the context ends or
// show fails. The end of the context is no error. When the connection is lost, warn is told once,
// and Watch goes on as soon as it can.
func Watch(
	ctx context.Context, clients client.Clients, namespace string, warn func(error), show func(*placement.Objects) error,
) error {
	// A plain read reports at once what a watch would retry for ever: no connection, no rights, no
	// CRDs.
	objects, err := Read(ctx, clients, namespace)
	if err != nil {
		return err
	}
	if err := show(objects); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := newWatches(clients, namespace)
	if err != nil {
		return err
	}
	defer w.start(ctx)()
	defer cancel()
	return w.run(ctx, warn, show)
}

// watches are the watches of all kinds.
type watches struct {
	kubernetes informers.SharedInformerFactory
	berth      externalversions.SharedInformerFactory
	informers  map[string]cache.SharedIndexInformer
	changed    chan struct{}
	problems   chan error
}

func newWatches(clients client.Clients, namespace string) (*watches, error) {
	w := &watches{
		kubernetes: informers.NewSharedInformerFactoryWithOptions(clients.Kubernetes, 0,
			informers.WithNamespace(namespace), informers.WithTransform(stripManagedFields)),
		berth: externalversions.NewSharedInformerFactoryWithOptions(clients.Berth, 0,
			externalversions.WithNamespace(namespace), externalversions.WithTransform(stripManagedFields)),
		changed:  make(chan struct{}, 1),
		problems: make(chan error, 1),
	}
	w.informers = map[string]cache.SharedIndexInformer{
		"propagationpolicies": w.berth.Berth().V1alpha1().PropagationPolicies().Informer(),
		"clusters":            w.berth.Berth().V1alpha1().Clusters().Informer(),
		"nodes":               w.kubernetes.Core().V1().Nodes().Informer(),
		"pods":                w.kubernetes.Core().V1().Pods().Informer(),
	}
	for _, kind := range workload.Kinds() {
		informer, err := w.kubernetes.ForResource(kind.GroupVersionResource())
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.Resource, err)
		}
		w.informers[kind.Resource] = informer.Informer()
	}
	for kind, informer := range w.informers {
		if err := w.listen(kind, informer); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind, err)
		}
	}
	return w, nil
}

// stripManagedFields drops what takes half the memory of an object and nobody reads.
func stripManagedFields(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return object, nil
}

func (w *watches) listen(kind string, informer cache.SharedIndexInformer) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.signal() },
		UpdateFunc: func(_, _ any) { w.signal() },
		DeleteFunc: func(any) { w.signal() },
	})
	if err != nil {
		return err
	}
	return informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return // The watch ended as all watches do, and starts again.
		}
		select {
		case w.problems <- client.DescribeError("watching "+kind, err):
		default:
		}
	})
}

// start runs the watches until the context ends, and returns a function that waits until they have
// ended.
func (w *watches) start(ctx context.Context) (wait func()) {
	w.kubernetes.Start(ctx.Done())
	w.berth.Start(ctx.Done())
	return func() {
		w.kubernetes.Shutdown()
		w.berth.Shutdown()
	}
}

func (w *watches) signal() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *watches) run(ctx context.Context, warn func(error), show func(*placement.Objects) error) error {
	warned := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case problem := <-w.problems:
			if apierrors.IsForbidden(problem) {
				return problem
			}
			if !warned {
				warn(problem)
			}
			warned = true
			continue
		case <-w.changed:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(quiet):
		}
		if !w.synced() {
			// The kinds arrive one after the other; none of them may be missing.
			w.signal()
			continue
		}
		warned = false
		if err := show(w.objects()); err != nil {
			return err
		}
	}
}

func (w *watches) synced() bool {
	for _, informer := range w.informers {
		if !informer.HasSynced() {
			return false
		}
	}
	return true
}

// objects returns what the watches know at present.
func (w *watches) objects() *placement.Objects {
	o := &placement.Objects{}
	known(w.informers["propagationpolicies"], &o.Policies)
	known(w.informers["clusters"], &o.Clusters)
	known(w.informers["nodes"], &o.Nodes)
	known(w.informers["pods"], &o.Pods)
	for _, kind := range workload.Kinds() {
		for _, object := range w.informers[kind.Resource].GetStore().List() {
			if owner, ok := object.(workload.Object); ok {
				o.Owners = append(o.Owners, owner)
			}
		}
	}
	return o
}

func known[T any](informer cache.SharedIndexInformer, into *[]T) {
	for _, object := range informer.GetStore().List() {
		if item, ok := object.(*T); ok {
			*into = append(*into, *item)
		}
	}
}
