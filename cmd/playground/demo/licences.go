// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/cmd/playground/podwatch"
)

const (
	licence = "matlab"
	// licences is how many there are, simulations how many pods want one.
	licences, simulations = 3, 5

	simulation  = "simulation"
	urgent      = "urgent"
	licenceName = corev1.ResourceName(berthv1alpha1.ClusterResourceDomain + "/" + licence)

	// usedUpReason is what the scheduler says to pods that find no licence.
	usedUpReason = "node(s) whose pools of " + licence + " are used up"
)

// giveOut is step 7: no more pods run than there are licences, and the others say why they wait.
func (d *demo) giveOut(ctx context.Context) (string, error) {
	d.printf("uncordoning the nodes of beijing")
	if err := d.cordon(ctx, beijing, false); err != nil {
		return "", err
	}
	d.printf("applying ClusterResource %s: %d for all nodes", licence, licences)
	if _, err := d.berth.BerthV1alpha1().ClusterResources().Create(ctx, licencePool(), metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating ClusterResource %s: %w", licence, err)
	}
	if err := d.awaitPublished(ctx); err != nil {
		return "", err
	}
	d.printf("creating %d pods in hangzhou that ask for one each", simulations)
	for i := range simulations {
		if err := d.createLicensed(ctx, fmt.Sprintf("%s-%d", simulation, i), hangzhou, ""); err != nil {
			return "", err
		}
	}
	if _, err := d.awaitLicensed(ctx, simulations-licences); err != nil {
		return "", err
	}
	reason, err := d.awaitReason(ctx, usedUpReason)
	if err != nil {
		return "", err
	}
	d.printf("FailedScheduling: %s", reason)
	return fmt.Sprintf("%d of %d pods run; the others say that %s is used up", licences, simulations, licence), nil
}

// awaitPublished waits until the controller has published what there is to give out.
func (d *demo) awaitPublished(ctx context.Context) error {
	return d.await(ctx, func(ctx context.Context) error {
		object, err := d.berth.BerthV1alpha1().ClusterResources().Get(ctx, licence, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading ClusterResource %s: %w", licence, err)
		}
		if !meta.IsStatusConditionTrue(object.Status.Conditions, berthv1alpha1.ClusterResourceReady) {
			return fmt.Errorf("ClusterResource %s is not Ready", licence)
		}
		return nil
	})
}

// release is step 8: what one pod gives back starts the next one.
func (d *demo) release(ctx context.Context) (string, error) {
	before, err := d.awaitLicensed(ctx, simulations-licences)
	if err != nil {
		return "", err
	}
	gone := before[0].Name
	d.printf("deleting pod %s", gone)
	began := time.Now()
	if err := d.client.CoreV1().Pods(namespace).Delete(ctx, gone, metav1.DeleteOptions{}); err != nil {
		return "", fmt.Errorf("deleting pod %s: %w", gone, err)
	}
	after, err := d.awaitLicensed(ctx, simulations-licences-1)
	if err != nil {
		return "", err
	}
	started := newcomers(before, after)
	if len(started) != 1 {
		return "", fmt.Errorf("one pod should have started, not %q", started)
	}
	return fmt.Sprintf("%s ended, %s runs %.1fs later", gone, started[0], time.Since(began).Seconds()), nil
}

// preempt is step 9: an important pod takes a licence from one pod, which runs on a node of another
// cluster.
func (d *demo) preempt(ctx context.Context) (string, error) {
	before, err := d.awaitLicensed(ctx, simulations-licences-1)
	if err != nil {
		return "", err
	}
	d.printf("creating a pod of high priority in beijing that asks for one")
	if _, err := d.client.SchedulingV1().PriorityClasses().Create(ctx, urgentClass(), metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating PriorityClass %s: %w", urgent, err)
	}
	// The API server refuses the pod until its own cache has the class.
	err = d.await(ctx, func(ctx context.Context) error { return d.createLicensed(ctx, urgent, beijing, urgent) })
	if err != nil {
		return "", err
	}
	after, err := d.awaitLicensed(ctx, simulations-licences-1)
	if err != nil {
		return "", err
	}
	if started := newcomers(before, after); !slices.Equal(started, []string{urgent}) {
		return "", fmt.Errorf("%s should have started and nothing else, not %q", urgent, started)
	}
	gone := newcomers(after, before)
	if len(gone) != 1 {
		return "", fmt.Errorf("one pod should have made way, not %q", gone)
	}
	at := slices.IndexFunc(after, func(p corev1.Pod) bool { return p.Name == urgent })
	victim := slices.IndexFunc(before, func(p corev1.Pod) bool { return p.Name == gone[0] })
	return fmt.Sprintf("%s on %s made way for %s on %s, and nobody else", gone[0], before[victim].Spec.NodeName,
		urgent, after[at].Spec.NodeName), nil
}

// newcomers returns the names of the pods in after that are not in before.
func newcomers(before, after []corev1.Pod) []string {
	var names []string
	for i := range after {
		if !slices.ContainsFunc(before, func(p corev1.Pod) bool { return p.UID == after[i].UID }) {
			names = append(names, after[i].Name)
		}
	}
	return names
}

// awaitLicensed waits until all licences are held by pods that run and so many pods wait for one,
// which the status of the ClusterResource must say as well. A pod of high priority must be among
// those that run. It prints the account, and returns those that run.
func (d *demo) awaitLicensed(ctx context.Context, waiting int) ([]corev1.Pod, error) {
	var now []corev1.Pod
	var account *berthv1alpha1.ClusterResource
	err := d.await(ctx, func(ctx context.Context) error {
		list, err := d.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + simulation})
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		all := len(list.Items)
		preferred := slices.ContainsFunc(list.Items, func(p corev1.Pod) bool { return p.Name == urgent && !podwatch.IsReady(&p) })
		now = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return !podwatch.IsReady(&p) })
		if len(now) != licences || all-len(now) != waiting || preferred {
			return fmt.Errorf("%d pods run and %d do not, want %d and %d; %s waits: %t",
				len(now), all-len(now), licences, waiting, urgent, preferred)
		}
		account, err = d.berth.BerthV1alpha1().ClusterResources().Get(ctx, licence, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading ClusterResource %s: %w", licence, err)
		}
		if allocated := account.Status.Allocated; len(allocated) != 1 ||
			allocated[0].Quantity.Value() != licences || int(account.Status.Waiting) != waiting {
			return fmt.Errorf("the status of ClusterResource %s says %s allocated and %d waiting, must say %d and %d",
				licence, account.Status.Summary.Allocated, account.Status.Waiting, licences, waiting)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(now))
	for i := range now {
		names[i] = now[i].Name + " on " + now[i].Spec.NodeName
	}
	d.printf("%s: all %d allocated, waiting: %d; held by %s", licence, licences, waiting, strings.Join(names, ", "))
	return now, nil
}

func (d *demo) createLicensed(ctx context.Context, name, cluster, priority string) error {
	one := corev1.ResourceList{licenceName: resource.MustParse("1")}
	_, err := d.client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": simulation}},
		Spec: corev1.PodSpec{
			SchedulerName:                 schedulerName,
			PriorityClassName:             priority,
			NodeSelector:                  map[string]string{corev1.LabelTopologyRegion: cluster},
			TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers: []corev1.Container{{
				Name: simulation, Image: simulation, Resources: corev1.ResourceRequirements{Requests: one, Limits: one},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating pod %s: %w", name, err)
	}
	return nil
}
