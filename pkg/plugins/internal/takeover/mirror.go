// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/settle"
)

const (
	// mirrorTimeout is how long the informer may take to show a write, and mirrorPoll how often is
	// looked.
	mirrorTimeout = 5 * time.Second
	mirrorPoll    = 10 * time.Millisecond
)

// errNobodyWaits is why it is not found out how new the informer is: nobody could be written.
var errNobodyWaits = errors.New("no pod waits")

// Mirror is what an informer has of the pods. It stands for a list of all of them as soon as it is
// as new as the write of somebody who waits: an informer takes up what happens in the order of the
// versions. At 150,000 pods that saves twenty seconds.
type Mirror struct {
	// Client writes the status of pods.
	Client kubernetes.Interface
	// Clock is the time that the informer is waited for.
	Clock clock.Clock
	// All returns all pods that the informer has, Pending those without a node, and Pod one of them,
	// nil if it does not have it.
	All, Pending func() []*corev1.Pod
	Pod          func(namespace, name string) *corev1.Pod
}

// catchUp waits until the informer is as new as the API server was when it was called. Waits
// reports whether a pod may be written for that.
//
// One write is not enough: the informer may have begun to read everything anew, and show this pod
// before it shows others. What was read then does not have a second write that is made after the
// first was seen, so when that is seen, too, all of it has been taken up.
func (m *Mirror) catchUp(ctx context.Context, waits func(*corev1.Pod) bool) error {
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.InOrderInformers) {
		return errors.New("the informers do not keep the order of events")
	}
	pods := slices.DeleteFunc(m.Pending(), func(pod *corev1.Pod) bool { return !waits(pod) })
	if len(pods) == 0 {
		return errNobodyWaits
	}
	first := slices.MinFunc(pods, func(x, y *corev1.Pod) int { return cmp.Compare(x.UID, y.UID) })
	ctx, cancel := context.WithTimeout(ctx, mirrorTimeout)
	defer cancel()
	for range 2 {
		if err := m.touch(ctx, first); err != nil {
			return err
		}
	}
	return nil
}

// touch changes a pod, and waits until the informer shows that.
func (m *Mirror) touch(ctx context.Context, pod *corev1.Pod) error {
	written, err := settle.Write(ctx, m.Client, ledger.Ref(pod))
	if err != nil {
		return fmt.Errorf("writing pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	for {
		known := m.Pod(pod.Namespace, pod.Name)
		if known == nil || known.UID != pod.UID || known.ResourceVersion == written.ResourceVersion ||
			newer(known.ResourceVersion, written.ResourceVersion) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the write of pod %s/%s: %w", pod.Namespace, pod.Name, ctx.Err())
		case <-m.Clock.After(mirrorPoll):
		}
	}
}
