// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/minor"
	"berth.dev/berth/pkg/placement/names"
)

const (
	// renewBefore is how long before its end a certificate should have been renewed.
	renewBefore = 7 * 24 * time.Hour

	// unseen is how old a pod must be before it can be said that no scheduler has looked at it.
	unseen = time.Minute

	// gangLabel puts a pod into a gang of the plugin Coscheduling.
	gangLabel  = "scheduling.x-k8s.io/pod-group"
	gangPlugin = "Coscheduling"

	// mostNamed bounds how many objects a check names.
	mostNamed = 5
)

// certificates looks at those that Berth's programs mount. What they sign themselves is renewed
// when they start.
func certificates(s *state) []error {
	if s.secrets.err != nil || s.nowErr != nil {
		return one(cmp.Or(s.secrets.err, s.nowErr))
	}
	var found []error
	for i := range s.secrets.items {
		secret := &s.secrets.items[i]
		if !s.mounted(secret.Name) {
			continue
		}
		block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
		if block == nil {
			found = append(found, fmt.Errorf("the Secret %s has no certificate in %s", secret.Name, corev1.TLSCertKey))
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			found = append(found, fmt.Errorf("the Secret %s: %w", secret.Name, err))
		case s.now.After(certificate.NotAfter):
			found = append(found, fmt.Errorf("the certificate in Secret %s has been invalid since %s", secret.Name, day(certificate.NotAfter)))
		case s.now.Add(renewBefore).After(certificate.NotAfter):
			found = append(found, warnf("the certificate in Secret %s is valid until %s only", secret.Name, day(certificate.NotAfter)))
		}
	}
	return found
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// mounted reports whether one of Berth's programs mounts a Secret.
func (s *state) mounted(secret string) bool {
	for i := range s.deployments.items {
		for j := range s.deployments.items[i].Spec.Template.Spec.Volumes {
			source := s.deployments.items[i].Spec.Template.Spec.Volumes[j].Secret
			if source != nil && source.SecretName == secret && ours(&s.deployments.items[i]) {
				return true
			}
		}
	}
	return false
}

// named joins names, not too many of them.
func named(all []string) string { return names.First(all, mostNamed, ", ") }

// is returns the message of a condition that has a status.
func is(conditions []metav1.Condition, kind string, status metav1.ConditionStatus) (string, bool) {
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil || c.Status != status {
		return "", false
	}
	return c.Reason + ": " + c.Message, true
}

func overlaps(s *state) []error {
	if s.clusters.err != nil {
		return one(s.clusters.err)
	}
	var found []error
	for i := range s.clusters.items {
		if message, yes := is(s.clusters.items[i].Status.Conditions, berthv1alpha1.ClusterConflicted, metav1.ConditionTrue); yes {
			found = append(found, fmt.Errorf("the Cluster %s: %s", s.clusters.items[i].Name, message))
		}
	}
	return found
}

func emptyClusters(s *state) []error {
	var found []error
	for i := range s.clusters.items {
		c := &s.clusters.items[i]
		if c.Spec.Provision != nil {
			continue // it is yet to be made
		}
		if message, yes := is(c.Status.Conditions, berthv1alpha1.ClusterReady, metav1.ConditionFalse); yes {
			found = append(found, warnf("the Cluster %s: %s", c.Name, message))
		}
	}
	return found
}

func accepted(s *state) []error {
	if s.conditioned.err != nil {
		return one(s.conditioned.err)
	}
	return s.withCondition(berthv1alpha1.PolicyAccepted, metav1.ConditionFalse)
}

func conflicted(s *state) []error {
	return s.withCondition(berthv1alpha1.PolicyConflicted, metav1.ConditionTrue)
}

func (s *state) withCondition(kind string, status metav1.ConditionStatus) []error {
	var found []error
	for _, object := range s.conditioned.items {
		if message, yes := is(object.conditions, kind, status); yes {
			found = append(found, fmt.Errorf("%s: %s", object.name, message))
		}
	}
	return found
}

func clusterResources(s *state) []error {
	if s.resources.err != nil {
		return one(s.resources.err)
	}
	var found []error
	for i := range s.resources.items {
		if message, yes := is(s.resources.items[i].Status.Conditions, berthv1alpha1.ClusterResourceReady, metav1.ConditionFalse); yes {
			found = append(found, fmt.Errorf("the ClusterResource %s: %s", s.resources.items[i].Name, message))
		}
	}
	return found
}

func schedulerProcesses(s *state) []error {
	if s.schedulers.err != nil {
		return one(s.schedulers.err)
	}
	var found []error
	for i := range s.schedulers.items {
		scheduler := &s.schedulers.items[i]
		if scheduler.DeletionTimestamp != nil {
			continue
		}
		if message, yes := is(scheduler.Status.Conditions, berthv1alpha1.SchedulerReady, metav1.ConditionFalse); yes {
			found = append(found, fmt.Errorf("the Scheduler %s: %s", scheduler.Name, message))
		}
	}
	return found
}

// podsOfNoScheduler tells of pods that no scheduler has looked at: one that does says why they
// wait.
func podsOfNoScheduler(s *state) []error {
	if s.pending.err != nil || s.nowErr != nil {
		return one(cmp.Or(s.pending.err, s.nowErr))
	}
	waiting := map[string][]string{}
	for i := range s.pending.items {
		pod := &s.pending.items[i]
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || s.now.Sub(pod.CreationTimestamp.Time) < unseen ||
			slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }) {
			continue
		}
		waiting[pod.Spec.SchedulerName] = append(waiting[pod.Spec.SchedulerName], pod.Namespace+"/"+pod.Name)
	}
	return describeWaiting(waiting, s.served())
}

func describeWaiting(waiting map[string][]string, served []string) []error {
	var found []error
	for scheduler, pods := range waiting {
		switch {
		case slices.Contains(served, scheduler):
			// They may be held back on purpose, until another one of their gang comes for instance.
			found = append(found, warnf("Berth has not looked at pods for more than %s: %s", unseen, named(pods)))
		default:
			found = append(found, fmt.Errorf("no scheduler %s has looked at pods for more than %s, and Berth serves %s: %s",
				scheduler, unseen, strings.Join(served, ", "), named(pods)))
		}
	}
	slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return found
}

// podsOfGangs tells of pods that would be placed one by one, or not at all.
func podsOfGangs(s *state) []error {
	_, text, err := s.configured()
	enabled, compiled := strings.Contains(text, "name: "+gangPlugin), s.compiledWith()
	if err != nil || enabled && compiled <= minor.NewestWithGangs {
		return nil // an error is told of by another check
	}
	var pods []string
	for i := range s.pending.items {
		pod := &s.pending.items[i]
		if pod.Labels[gangLabel] != "" && pod.Spec.NodeName == "" && slices.Contains(s.served(), pod.Spec.SchedulerName) {
			pods = append(pods, pod.Namespace+"/"+pod.Name)
		}
	}
	if len(pods) == 0 {
		return nil
	}
	if enabled {
		return one(fmt.Errorf("a scheduler that is compiled with Kubernetes 1.%d has no gang scheduling, so these wait: %s", compiled, named(pods)))
	}
	return one(fmt.Errorf("the plugin %s is not enabled, so gangs are placed pod by pod: %s", gangPlugin, named(pods)))
}
