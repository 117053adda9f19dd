// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"berth.dev/berth/apis/config/scheme"
	"berth.dev/berth/pkg/fence"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/minor"
	"berth.dev/berth/pkg/plugins"
)

// startTimeout is how long a scheduler may take to read its objects.
const startTimeout = time.Minute

// setup is what a scheduler is made of.
type setup struct {
	profiles    []schedulerconfig.KubeSchedulerProfile
	kube, berth []runtime.Object
	kubeConfig  *rest.Config
	extenders   []schedulerconfig.Extender
}

// rig is a profile of a scheduler that decides when it is told to. Nothing runs beside it but idle
// informers.
type rig struct {
	*scheduler.Scheduler

	profile framework.Framework
}

// newScheduler starts a scheduler with the nodes and pods of the layout in its cache. It stops when
// the context ends.
func newScheduler(ctx context.Context, l *layout, s *setup) (*scheduler.Scheduler, error) {
	leader := fence.New()
	leader.KeepOpen()
	state := plugins.NewState(leader, berthfake.NewSimpleClientset(s.berth...))
	kube := kubefake.NewClientset(s.kube...)
	factory := minor.NewInformerFactory(kube)
	recorders := profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{Interface: kube.EventsV1()}))
	made, err := scheduler.New(ctx, kube, factory, nil, recorders,
		scheduler.WithProfiles(s.profiles...), scheduler.WithFrameworkOutOfTreeRegistry(state.Registry()),
		scheduler.WithKubeConfig(s.kubeConfig), scheduler.WithExtenders(s.extenders...))
	if err != nil {
		return nil, fmt.Errorf("making the scheduler: %w", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := made.WaitForHandlersSync(ctx); err != nil {
		return nil, fmt.Errorf("waiting for the informers: %w", err)
	}
	go state.Run(ctx)
	for _, p := range made.Profiles {
		if err := awaitPlugins(ctx, p); err != nil {
			return nil, err
		}
	}
	return made, fill(ctx, made, l)
}

// ownRig starts a scheduler with one profile.
func ownRig(ctx context.Context, l *layout, configuration string, s *setup) (*rig, error) {
	p, err := profileOf(configuration)
	if err != nil {
		return nil, err
	}
	s.profiles = []schedulerconfig.KubeSchedulerProfile{*p}
	made, err := newScheduler(ctx, l, s)
	if err != nil {
		return nil, err
	}
	return &rig{Scheduler: made, profile: made.Profiles[p.SchedulerName]}, nil
}

// awaitPlugins waits until every plugin lets pods into the queue, also one that asks for a
// ClusterResource.
func awaitPlugins(ctx context.Context, p framework.Framework) error {
	asks := askingPod(0)
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		for _, plugin := range p.PreEnqueuePlugins() {
			if !plugin.PreEnqueue(ctx, asks).IsSuccess() {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the plugins to have read their objects: %w", err)
	}
	return nil
}

func fill(ctx context.Context, s *scheduler.Scheduler, l *layout) error {
	logger := klog.FromContext(ctx)
	for _, node := range l.nodes {
		s.Cache.AddNode(logger, node)
	}
	for _, pod := range l.pods {
		if err := s.Cache.AddPod(logger, pod); err != nil {
			return fmt.Errorf("adding pod %s: %w", klog.KObj(pod), err)
		}
	}
	return nil
}

// profileOf reads the first profile of a KubeSchedulerConfiguration as the scheduler does.
func profileOf(configuration string) (*schedulerconfig.KubeSchedulerProfile, error) {
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(configuration), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding the scheduler configuration: %w", err)
	}
	decoded, ok := object.(*schedulerconfig.KubeSchedulerConfiguration)
	if !ok || len(decoded.Profiles) == 0 {
		return nil, fmt.Errorf("a %T is no scheduler configuration with a profile", object)
	}
	return &decoded.Profiles[0], nil
}

// decide makes one decision and changes nothing.
func (r *rig) decide(ctx context.Context, pod *corev1.Pod) (fwk.CycleState, string, error) {
	state := framework.NewCycleState()
	result, err := minor.Schedule(ctx, r.Scheduler, r.profile, state, pod)
	return state, result.SuggestedHost, err
}

// placed is a pod that the scheduler believes to run on a node.
type placed struct {
	pod   *corev1.Pod
	state fwk.CycleState
	node  string
}

// place decides on a pod and lets the scheduler believe that it runs there. It returns how long the
// decision took, and nil if there was no node for the pod.
func (r *rig) place(ctx context.Context, pod *corev1.Pod) (*placed, time.Duration, error) {
	started := time.Now()
	state, node, err := r.decide(ctx, pod)
	took := time.Since(started)
	var unfit *framework.FitError
	if errors.As(err, &unfit) {
		return nil, took, nil
	}
	if err != nil {
		return nil, took, fmt.Errorf("placing pod %s: %w", klog.KObj(pod), err)
	}
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = node
	if err := r.Cache.AssumePod(klog.FromContext(ctx), assumed); err != nil {
		return nil, took, fmt.Errorf("assuming pod %s: %w", klog.KObj(pod), err)
	}
	if status := r.profile.RunReservePluginsReserve(ctx, state, assumed, node); !status.IsSuccess() {
		return nil, took, fmt.Errorf("reserving for pod %s: %w", klog.KObj(pod), status.AsError())
	}
	return &placed{pod: assumed, state: state, node: node}, took, nil
}

// forget takes place back.
func (r *rig) forget(ctx context.Context, p *placed) error {
	r.profile.RunReservePluginsUnreserve(ctx, p.state, p.pod, p.node)
	if err := r.Cache.ForgetPod(klog.FromContext(ctx), p.pod); err != nil {
		return fmt.Errorf("forgetting pod %s: %w", klog.KObj(p.pod), err)
	}
	return nil
}
