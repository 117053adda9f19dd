// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Names of Berth's programs.
const (
	schedulerProgram   = "berth-scheduler"
	controllersProgram = "berth-controller-manager"
	gatewayProgram     = "berth-gateway"
)

// configKey is the key of the scheduler's configuration in its ConfigMap.
const configKey = "scheduler-config.yaml"

// deployment returns what is installed of a program, nil if nothing is.
func (s *state) deployment(name string) *appsv1.Deployment {
	for i := range s.deployments.items {
		if s.deployments.items[i].Name == name {
			return &s.deployments.items[i]
		}
	}
	return nil
}

// installed accepts programs that run outside of the cluster and hold their leases.
func installed(s *state) []error {
	if err := errors.Join(s.deployments.err, s.leases.err, s.nowErr); err != nil {
		return one(err)
	}
	var found []error
	for _, name := range []string{schedulerProgram, controllersProgram} {
		if s.deployment(name) == nil && !s.runsApart(name) {
			found = append(found, fmt.Errorf("there is no Deployment %s/%s, and nobody holds the lease of that name", berthv1alpha1.SystemNamespace, name))
		}
	}
	return found
}

// ours reports whether a Deployment runs one of Berth's programs.
func ours(d *appsv1.Deployment) bool {
	return d.Name == controllersProgram || d.Name == gatewayProgram || strings.HasPrefix(d.Name, schedulerProgram)
}

func available(s *state) []error {
	found := s.switchedOff()
	for i := range s.deployments.items {
		d := &s.deployments.items[i]
		if !ours(d) || d.Spec.Replicas == nil || d.Status.AvailableReplicas >= *d.Spec.Replicas {
			continue
		}
		err := fmt.Errorf("the Deployment %s has %d of %d replicas available", d.Name, d.Status.AvailableReplicas, *d.Spec.Replicas)
		if d.Status.AvailableReplicas > 0 {
			err = warning{err}
		}
		found = append(found, err)
	}
	return found
}

// switchedOff tells of programs that are to have no replicas, though nothing else does their work:
// not of a scheduler where there are others with names, nor of the gateway, which need not run.
func (s *state) switchedOff() []error {
	var found []error
	for _, name := range []string{schedulerProgram, controllersProgram} {
		d := s.deployment(name)
		if d != nil && d.Spec.Replicas != nil && *d.Spec.Replicas == 0 && (name == controllersProgram || !s.namedSchedulers()) {
			found = append(found, fmt.Errorf("the Deployment %s is scaled to no replicas", name))
		}
	}
	return found
}

// namedSchedulers reports whether there are Schedulers, or Deployments for some.
func (s *state) namedSchedulers() bool {
	return len(s.schedulers.items) > 0 || slices.ContainsFunc(s.deployments.items, func(d appsv1.Deployment) bool {
		return strings.HasPrefix(d.Name, schedulerProgram+"-")
	})
}

// ownPods returns the pods of Berth's programs.
func (s *state) ownPods() []*corev1.Pod {
	var found []*corev1.Pod
	for i := range s.systemPods.items {
		pod := &s.systemPods.items[i]
		if strings.HasPrefix(pod.Labels["app.kubernetes.io/name"], "berth-") && pod.DeletionTimestamp == nil {
			found = append(found, pod)
		}
	}
	return found
}

func ownPodsPlaced(s *state) []error {
	if s.systemPods.err != nil {
		return one(s.systemPods.err)
	}
	var found []error
	for _, pod := range s.ownPods() {
		for i := range pod.Status.Conditions {
			c := &pod.Status.Conditions[i]
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && pod.Spec.NodeName == "" {
				found = append(found, fmt.Errorf("pod %s has no node: %s", pod.Name, c.Message))
			}
		}
	}
	return found
}

func ownPodsRunning(s *state) []error {
	var found []error
	for _, pod := range s.ownPods() {
		for i := range pod.Status.ContainerStatuses {
			waiting := pod.Status.ContainerStatuses[i].State.Waiting
			if waiting != nil && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing" {
				found = append(found, fmt.Errorf("pod %s does not run: %s %s", pod.Name, waiting.Reason, waiting.Message))
			}
		}
	}
	return found
}

func memory(s *state) []error {
	var found []error
	for _, pod := range s.ownPods() {
		for i := range pod.Status.ContainerStatuses {
			last := pod.Status.ContainerStatuses[i].LastTerminationState.Terminated
			if last != nil && last.Reason == "OOMKilled" {
				found = append(found, fmt.Errorf("pod %s ran out of memory at %s: raise its limit",
					pod.Name, last.FinishedAt.UTC().Format(time.RFC3339)))
			}
		}
	}
	return found
}

// profiles is the part of a KubeSchedulerConfiguration that checks read.
type profiles struct {
	LeaderElection struct {
		ResourceName      string `json:"resourceName"`
		ResourceNamespace string `json:"resourceNamespace"`
	} `json:"leaderElection"`
	Profiles []struct {
		SchedulerName string `json:"schedulerName"`
	} `json:"profiles"`
}

// configured returns the scheduler's configuration as it is mounted, and its text.
func (s *state) configured() (*profiles, string, error) {
	d := s.deployment(schedulerProgram)
	if d == nil {
		return nil, "", nil // it runs outside of the cluster
	}
	if s.configs.err != nil {
		return nil, "", s.configs.err
	}
	for i := range d.Spec.Template.Spec.Volumes {
		source := d.Spec.Template.Spec.Volumes[i].ConfigMap
		if source == nil {
			continue
		}
		for j := range s.configs.items {
			if s.configs.items[j].Name == source.Name {
				text := s.configs.items[j].Data[configKey]
				read := &profiles{}
				if err := yaml.Unmarshal([]byte(text), read); err != nil {
					return nil, "", fmt.Errorf("ConfigMap %s: %w", source.Name, err)
				}
				return read, text, nil
			}
		}
		return nil, "", fmt.Errorf("there is no ConfigMap %s, which Deployment %s mounts", source.Name, d.Name)
	}
	return nil, "", fmt.Errorf("the Deployment %s mounts no ConfigMap", d.Name)
}

func configuration(s *state) []error {
	read, _, err := s.configured()
	if err != nil {
		return one(err)
	}
	if read != nil && len(read.Profiles) == 0 {
		return one(errors.New("the scheduler's configuration has no profile"))
	}
	return nil
}

// served returns the schedulerNames that Berth serves.
func (s *state) served() []string {
	read, _, err := s.configured()
	if err != nil || read == nil {
		return []string{schedulerProgram}
	}
	names := make([]string, 0, len(read.Profiles))
	for _, p := range read.Profiles {
		names = append(names, p.SchedulerName)
	}
	return names
}
