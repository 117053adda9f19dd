// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// askAgain is how long what the events of pods say is good for.
	askAgain = 10 * time.Second
	// nodeTime is how long an autoscaler may need for a node.
	nodeTime = 15 * time.Minute
	// maxAsked is of how many pods the events are read, and maxQuestions how often that is done for
	// what is in one namespace in one pass.
	maxAsked, maxQuestions = 5, 20
)

// Questions counts how often events of pods were read for what is in one namespace in one pass.
type Questions int

// Expectation is whether an autoscaler makes a node for some pods, as their events said when they
// were read last. The zero value has read none. It is not safe for concurrent use.
type Expectation struct {
	expected bool
	asked    time.Time
}

// Of reports whether an autoscaler makes a node for one of the pods. It reads the events of the
// first few of them from the reader, at most every ten seconds; events that cannot be read say
// nothing. Once so much has been asked in a pass that others would have to wait, a node is expected
// until the next one.
func (e *Expectation) Of(ctx context.Context, reader client.Reader, pods []*corev1.Pod, now time.Time, asked *Questions) bool {
	if now.Sub(e.asked) < askAgain {
		return e.expected
	}
	if *asked >= maxQuestions {
		return true
	}
	*asked++
	e.asked, e.expected = now, false
	for _, pod := range pods[:min(len(pods), maxAsked)] {
		var events corev1.EventList
		err := reader.List(ctx, &events, client.InNamespace(pod.Namespace),
			client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("involvedObject.uid", string(pod.UID))})
		if err != nil {
			ctrl.LoggerFrom(ctx).V(2).Info("Cannot read the events of a pod", "pod", pod.Name, "err", err)
			continue
		}
		e.expected = e.expected || slices.ContainsFunc(events.Items, func(event corev1.Event) bool { return makesNode(&event, now) })
	}
	return e.expected
}

// makesNode reports whether an autoscaler has said of late that it makes a node for a pod: the
// cluster autoscaler does with the first reason, Karpenter with the second one.
func makesNode(e *corev1.Event, now time.Time) bool {
	if e.Reason != "TriggeredScaleUp" && e.Reason != "Nominated" {
		return false
	}
	at := e.LastTimestamp.Time
	for _, other := range []time.Time{e.EventTime.Time, e.CreationTimestamp.Time} {
		if other.After(at) {
			at = other
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	return now.Sub(at) < nodeTime
}
