// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	schedulingapiv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
)

// Server is what an API server makes of objects on their way to the storage. Its methods may be
// called concurrently.
type Server struct {
	chain  admission.Interface
	stores map[string]cache.Store
}

// New returns a Server that knows the priority classes of every cluster and nothing else; see Put.
func New() (*Server, error) {
	// Plugins ask the client for what their informers do not know. It knows nothing. The other kind
	// of it would parse the schemas of everything that there is first.
	client := kubefake.NewSimpleClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	ranger, err := limitranger.NewLimitRanger(&limitranger.DefaultLimitRangerActions{})
	if err != nil {
		return nil, fmt.Errorf("making the plugin LimitRanger: %w", err)
	}
	// The order is that of the API server.
	plugins := []admission.Interface{
		ranger, priority.NewPlugin(), defaulttolerationseconds.NewDefaultTolerationSeconds(), runtimeclass.NewRuntimeClass(),
	}
	for _, plugin := range plugins {
		if err := initialize(plugin, client, factory); err != nil {
			return nil, err
		}
	}
	s := &Server{chain: admission.NewChainHandler(plugins...), stores: map[string]cache.Store{
		typeName(&corev1.LimitRange{}):          factory.Core().V1().LimitRanges().Informer().GetStore(),
		typeName(&nodev1.RuntimeClass{}):        factory.Node().V1().RuntimeClasses().Informer().GetStore(),
		typeName(&schedulingv1.PriorityClass{}): factory.Scheduling().V1().PriorityClasses().Informer().GetStore(),
	}}
	for _, class := range schedulingapiv1.SystemPriorityClasses() {
		if err := s.Put(class); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// initialize gives a plugin what it wants, as the API server does.
func initialize(plugin admission.Interface, client kubernetes.Interface, factory informers.SharedInformerFactory) error {
	if wants, ok := plugin.(initializer.WantsExternalKubeClientSet); ok {
		wants.SetExternalKubeClientSet(client)
	}
	if wants, ok := plugin.(initializer.WantsExternalKubeInformerFactory); ok {
		wants.SetExternalKubeInformerFactory(factory)
	}
	if wants, ok := plugin.(initializer.WantsFeatures); ok {
		wants.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	}
	if waits, ok := plugin.(interface{ SetReadyFunc(admission.ReadyFunc) }); ok {
		// Nothing runs the informers: what they know is put into them.
		waits.SetReadyFunc(func() bool { return true })
	}
	if validated, ok := plugin.(admission.InitializationValidator); ok {
		if err := validated.ValidateInitialization(); err != nil {
			return fmt.Errorf("making an admission plugin: %w", err)
		}
	}
	return nil
}

func typeName(object runtime.Object) string { return fmt.Sprintf("%T", object) }

// Reads reports whether the Server reads objects of this type: a LimitRange, a RuntimeClass or a
// PriorityClass.
func (s *Server) Reads(object runtime.Object) bool { return s.stores[typeName(object)] != nil }

// Put makes an object known that admission reads, or replaces it. It leaves objects of other types
// alone. They must not be changed afterwards.
func (s *Server) Put(object runtime.Object) error {
	if store := s.stores[typeName(object)]; store != nil {
		return store.Add(object)
	}
	return nil
}

// Drop makes an object unknown.
func (s *Server) Drop(object runtime.Object) error {
	if store := s.stores[typeName(object)]; store != nil {
		return store.Delete(object)
	}
	return nil
}

// Pod returns what the API server would store if it was asked to create the pod, which has a name,
// a namespace and a UID. The error is what the API server would answer. The pod itself stays as it
// is.
func (s *Server) Pod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	created, err := s.Create(ctx, pod)
	if err != nil {
		return nil, err
	}
	return created.(*corev1.Pod), nil //nolint:errcheck // Create keeps the type
}

// Sample is Pod for a pod that stands for others: it needs no UID, and its containers neither names
// nor images.
func (s *Server) Sample(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	whole := *pod
	whole.UID = cmp.Or(whole.UID, "sample")
	whole.Spec.Containers, whole.Spec.InitContainers = completed(pod.Spec.Containers), completed(pod.Spec.InitContainers)
	return s.Pod(ctx, &whole)
}

// completed gives containers what every container has.
func completed(containers []corev1.Container) []corev1.Container {
	whole := make([]corev1.Container, len(containers))
	for i := range containers {
		whole[i] = containers[i]
		whole[i].Image = cmp.Or(whole[i].Image, "sample")
		whole[i].Name = cmp.Or(whole[i].Name, fmt.Sprintf("sample-%d", i))
	}
	return whole
}

// Create returns what the API server would store if it was asked to create an object that has a
// name, a UID and, if it is of a kind with one, a namespace. Pods and the stock kinds that make
// pods are validated, and pods admitted; other objects get their defaults only, and those of kinds
// that no stock API server knows are returned as they are. The error is what the API server would
// answer. The object itself stays as it is.
func (s *Server) Create(ctx context.Context, object runtime.Object) (runtime.Object, error) {
	kinds, _, err := legacyscheme.Scheme.ObjectKinds(object)
	if err != nil {
		return object, nil //nolint:nilerr // see above
	}
	stored := object.DeepCopyObject()
	legacyscheme.Scheme.Default(stored)
	kind := kinds[0]
	strategy, known := strategies[kind.GroupKind()]
	if !known {
		return stored, nil
	}
	own := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	internal, err := legacyscheme.Scheme.ConvertToVersion(stored, own)
	if err != nil {
		return nil, fmt.Errorf("reading a %s: %w", kind.Kind, err)
	}
	if err := s.create(ctx, kind, strategy, internal); err != nil {
		return nil, err
	}
	stored, err = legacyscheme.Scheme.ConvertToVersion(internal, kind.GroupVersion())
	if err != nil {
		return nil, fmt.Errorf("converting a %s: %w", kind.Kind, err)
	}
	stored.GetObjectKind().SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	return stored, nil
}

// create changes an object of the API server's own version as its handler of POST does.
func (s *Server) create(
	ctx context.Context, kind schema.GroupVersionKind, strategy rest.RESTCreateStrategy, internal runtime.Object,
) error {
	accessor, err := meta.Accessor(internal)
	if err != nil {
		return err
	}
	ctx = request.WithNamespace(ctx, accessor.GetNamespace())
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	// Without it validation by declaration complains into the log.
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: kind.Group, APIVersion: kind.Version, Resource: resource.Resource,
		Namespace: accessor.GetNamespace(), Name: accessor.GetName(),
	})
	attributes := admission.NewAttributesRecord(
		internal, nil, kind, accessor.GetNamespace(), accessor.GetName(), resource, "",
		admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{})
	if mutating, ok := s.chain.(admission.MutationInterface); ok {
		if err := mutating.Admit(ctx, attributes, nil); err != nil {
			return err
		}
	}
	if err := rest.BeforeCreate(strategy, ctx, internal); err != nil {
		return err
	}
	if validating, ok := s.chain.(admission.ValidationInterface); ok {
		return validating.Validate(ctx, attributes, nil)
	}
	return nil
}
