// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"reflect"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"berth.dev/berth/pkg/minor"
)

// factory makes informers that nothing runs: what they know is put into them, and their handlers
// are called before that returns. The caches that plugins keep of volumes and devices fill from
// such events only.
type factory struct {
	// SharedInformerFactory makes the informers of groups that no plugin reads. They stay empty.
	informers.SharedInformerFactory

	byType map[reflect.Type]*informer
}

var _ informers.SharedInformerFactory = &factory{}

func newFactory(client kubernetes.Interface) *factory {
	return &factory{
		SharedInformerFactory: informers.NewSharedInformerFactory(client, 0), byType: map[reflect.Type]*informer{},
	}
}

// InformerFor returns the informer of a kind, and makes it on the first call.
func (f *factory) InformerFor(object runtime.Object, construct internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	kind := reflect.TypeOf(object)
	known := f.byType[kind]
	if known == nil {
		known = &informer{SharedIndexInformer: construct(nil, 0)}
		f.byType[kind] = known
	}
	return known
}

// ForResource returns the informer of a kind by its name in URLs.
func (f *factory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	apps, batch, core := f.Apps().V1(), f.Batch().V1(), f.Core().V1()
	known := map[schema.GroupVersionResource]func() cache.SharedIndexInformer{
		appsv1.SchemeGroupVersion.WithResource("deployments"):            apps.Deployments().Informer,
		appsv1.SchemeGroupVersion.WithResource("replicasets"):            apps.ReplicaSets().Informer,
		appsv1.SchemeGroupVersion.WithResource("statefulsets"):           apps.StatefulSets().Informer,
		batchv1.SchemeGroupVersion.WithResource("cronjobs"):              batch.CronJobs().Informer,
		batchv1.SchemeGroupVersion.WithResource("jobs"):                  batch.Jobs().Informer,
		corev1.SchemeGroupVersion.WithResource("replicationcontrollers"): core.ReplicationControllers().Informer,
	}[resource]
	if known == nil {
		return f.SharedInformerFactory.ForResource(resource)
	}
	return generic{known(), resource.GroupResource()}, nil
}

// generic is an informer that is asked for by the name of its kind.
type generic struct {
	informer cache.SharedIndexInformer
	resource schema.GroupResource
}

// Informer returns the informer.
func (g generic) Informer() cache.SharedIndexInformer { return g.informer }

// Lister lists what the informer knows.
func (g generic) Lister() cache.GenericLister {
	return cache.NewGenericLister(g.informer.GetIndexer(), g.resource)
}

// Core returns the informers of the core group.
func (f *factory) Core() core.Interface { return core.New(f, "", nil) }

// Apps returns the informers of the group apps.
func (f *factory) Apps() apps.Interface { return apps.New(f, "", nil) }

// Batch returns the informers of the group batch.
func (f *factory) Batch() batch.Interface { return batch.New(f, "", nil) }

// Policy returns the informers of the group policy.
func (f *factory) Policy() policy.Interface { return policy.New(f, "", nil) }

// Storage returns the informers of the group storage.k8s.io.
func (f *factory) Storage() storage.Interface { return storage.New(f, "", nil) }

// Resource returns the informers of the group resource.k8s.io.
func (f *factory) Resource() resource.Interface { return resource.New(f, "", nil) }

// Scheduling returns the informers of the group scheduling.k8s.io.
func (f *factory) Scheduling() scheduling.Interface { return scheduling.New(f, "", nil) }

// Start does nothing.
func (*factory) Start(<-chan struct{}) {}

// put makes an object known, in place of one of the same name. Kinds that no plugin reads are left
// alone.
func (f *factory) put(object runtime.Object) error {
	known := f.byType[reflect.TypeOf(object)]
	if known == nil {
		return nil
	}
	return known.put(object)
}

// has reports whether an object of the name is known.
func (f *factory) has(object runtime.Object) bool {
	known := f.byType[reflect.TypeOf(object)]
	if known == nil {
		return false
	}
	_, found, err := known.GetIndexer().Get(object)
	return err == nil && found
}

// drop makes an object unknown.
func (f *factory) drop(object runtime.Object) error {
	known := f.byType[reflect.TypeOf(object)]
	if known == nil {
		return nil
	}
	return known.drop(object)
}

// pod returns a pod that is known, nil if it is not.
func (f *factory) pod(namespace, name string) *corev1.Pod {
	pod, err := f.Core().V1().Pods().Lister().Pods(namespace).Get(name)
	if err != nil {
		return nil
	}
	return pod
}

// informer is an informer without a reflector.
type informer struct {
	cache.SharedIndexInformer

	handlers []cache.ResourceEventHandler
}

func (i *informer) put(object any) error {
	before, known, err := i.GetIndexer().Get(object)
	if err != nil {
		return err
	}
	if known {
		if err := i.GetIndexer().Update(object); err != nil {
			return err
		}
		for _, handler := range i.handlers {
			handler.OnUpdate(before, object)
		}
		return nil
	}
	if err := i.GetIndexer().Add(object); err != nil {
		return err
	}
	for _, handler := range i.handlers {
		handler.OnAdd(object, true)
	}
	return nil
}

func (i *informer) drop(object any) error {
	if err := i.GetIndexer().Delete(object); err != nil {
		return err
	}
	for _, handler := range i.handlers {
		handler.OnDelete(object)
	}
	return nil
}

// AddEventHandler calls the handler for what is known, and from then on for every change.
func (i *informer) AddEventHandler(
	handler cache.ResourceEventHandler,
) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, handler)
	for _, object := range i.GetIndexer().List() {
		handler.OnAdd(object, true)
	}
	return registration{handler: handler}, nil
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: nothing is lost, so nothing is told again.
func (i *informer) AddEventHandlerWithResyncPeriod(
	handler cache.ResourceEventHandler, _ time.Duration,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// AddEventHandlerWithOptions is AddEventHandler.
func (i *informer) AddEventHandlerWithOptions(
	handler cache.ResourceEventHandler, _ cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// RemoveEventHandler ends what AddEventHandler began.
func (i *informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	i.handlers = slices.DeleteFunc(i.handlers, func(h cache.ResourceEventHandler) bool { return registration{handler: h} == handle })
	return nil
}

// HasSynced is true: what is known is all there is.
func (*informer) HasSynced() bool { return true }

// registration is a handler, which has seen everything as soon as it is added.
type registration struct {
	minor.Registration

	handler cache.ResourceEventHandler
}
