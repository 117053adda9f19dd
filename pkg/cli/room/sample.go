// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package room

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/feeds/manifest"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/simulator/defaults"
)

// sample is the pod whose copies are counted.
type sample struct {
	// title is the workload of the pod as kind/name.
	title string
	pod   *corev1.Pod
	// admitted reports that the API server has seen the pod; a template and the pod of a file are
	// as their authors wrote them.
	admitted bool
}

// admit makes of a sample what the API server would, with the objects of the cluster that its
// admission reads.
func (s *sample) admit(ctx context.Context, clients client.Clients) error {
	if s.admitted {
		return nil
	}
	objects, err := live.ReadAdmission(ctx, clients, s.pod.Namespace)
	if err != nil {
		return err
	}
	server, err := defaults.New()
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := server.Put(object); err != nil {
			return err
		}
	}
	s.pod, err = server.Sample(ctx, s.pod)
	if err != nil {
		return fmt.Errorf("the API server would refuse the pods of %s: %w", s.title, err)
	}
	return nil
}

// finder finds the sample once the cluster has been read.
type finder func(context.Context, client.Clients, *live.Fit) (*sample, error)

// finder returns how to find the sample. What is wrong with an argument or a file is told before
// anything else is read.
func (o *options) finder(args []string) (finder, error) {
	namespace, err := o.factory.Namespace()
	if err != nil {
		return nil, err
	}
	if o.file.Given() {
		found, err := values.ReadFile(&o.file, o.streams.In, func(raw []byte) (*sample, error) { return parse(raw, namespace) })
		return func(context.Context, client.Clients, *live.Fit) (*sample, error) { return found, nil }, err
	}
	name, err := placement.ParseName(args[0])
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, clients client.Clients, fit *live.Fit) (*sample, error) {
		objects, err := fit.ReadWorkloads(ctx, clients, namespace)
		if err != nil {
			return nil, err
		}
		return find(objects, namespace, name)
	}, nil
}

// find returns the sample of the one workload that has the name.
func find(objects *workload.Objects, namespace string, name placement.Name) (*sample, error) {
	var found []*workload.Observed
	var titles []string
	for _, o := range workload.Observe(objects) {
		if name.Matches(o) {
			found = append(found, o)
			titles = append(titles, placement.Title(o.Kind, o.Name))
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%s not found in namespace %q", name, namespace)
	case 1:
		return sampleOf(found[0])
	default:
		return nil, fmt.Errorf("%s is not the only one of its name, name one of %s", name, strings.Join(titles, ", "))
	}
}

// sampleOf returns a copy of the workload's sample.
func sampleOf(o *workload.Observed) (*sample, error) {
	title := placement.Title(o.Kind, o.Name)
	pod, admitted := o.Sample()
	if pod == nil {
		return nil, fmt.Errorf("%s has neither pods nor a template that Berth can read", title)
	}
	return &sample{title: title, pod: pod.DeepCopy(), admitted: admitted}, nil
}

// parse reads the sample from a file with one object. An object that was read from a cluster stands
// for itself: who owned it and what became of it there makes no difference.
func parse(raw []byte, namespace string) (*sample, error) {
	documents, err := manifest.ReadAll(raw)
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("there are %d objects in it, name a file with one pod or workload", len(documents))
	}
	decoder := serializer.NewCodecFactory(kubernetesscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	object, kind, err := decoder.Decode(documents[0].Raw, nil, nil)
	if err != nil {
		return nil, err
	}
	objects := &workload.Objects{}
	switch o := object.(type) {
	case *corev1.Pod:
		o.Status, o.DeletionTimestamp = corev1.PodStatus{}, nil
		prepare(o, namespace)
		objects.Pods = append(objects.Pods, *o)
	case workload.Object:
		if workload.KindOf(o) == nil {
			return nil, fmt.Errorf("a %s is neither a pod nor a workload that Berth knows", kind.Kind)
		}
		prepare(o, namespace)
		objects.Owners = append(objects.Owners, o)
	default:
		return nil, fmt.Errorf("a %s is neither a pod nor a workload that Berth knows", kind.Kind)
	}
	observed := workload.Observe(objects)
	if len(observed) != 1 {
		return nil, errors.New("it is a workload that wants no pods")
	}
	found, err := sampleOf(observed[0])
	if err == nil && len(objects.Pods) > 0 {
		// Only the API server gives a pod a UID.
		found.admitted = objects.Pods[0].UID != ""
	}
	return found, err
}

func prepare(object metav1.Object, namespace string) {
	object.SetOwnerReferences(nil)
	if object.GetNamespace() == "" {
		object.SetNamespace(namespace)
	}
}
