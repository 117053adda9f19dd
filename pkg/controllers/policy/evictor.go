// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Evictor evicts pods.
type Evictor interface {
	// Evict asks for the eviction of exactly this pod: one of the same name with another UID must
	// be left alone. The error is that of the API server.
	Evict(ctx context.Context, pod *corev1.Pod) error
}

// evictionTimeout bounds one call. The API server retries conflicts for up to ten seconds by
// itself.
const evictionTimeout = 15 * time.Second

// apiEvictor evicts through the subresource of the API server, which respects PodDisruptionBudgets.
type apiEvictor struct {
	client rest.Interface
}

// NewEvictor returns an Evictor that uses a client of the core group. There is no fallback to a
// plain delete.
func NewEvictor(client rest.Interface) Evictor { return &apiEvictor{client: client} }

// Evict implements Evictor. The client does not repeat the call by itself when told to wait,
// because that would stop the pass for as long as the disruption controller lags behind.
func (e *apiEvictor) Evict(ctx context.Context, pod *corev1.Pod) error {
	ctx, cancel := context.WithTimeout(ctx, evictionTimeout)
	defer cancel()
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	}
	return e.client.Post().
		NamespaceIfScoped(pod.Namespace, true).
		Resource("pods").
		Name(pod.Name).
		SubResource("eviction").
		VersionedParams(&metav1.CreateOptions{}, scheme.ParameterCodec).
		MaxRetries(0).
		Body(eviction).
		Do(ctx).
		Error()
}

// outcome is what became of an attempt to evict a pod; it is the label of the metric.
type outcome string

const (
	outcomeEvicted      outcome = "evicted"
	outcomeRefusedByPDB outcome = "refused_by_pdb"
	outcomeSeveralPDBs  outcome = "several_pdbs"
	outcomeGone         outcome = "gone"
	outcomeFailed       outcome = "failed"
)

// outcomes are all outcomes, so that each has a count from the start.
var outcomes = []outcome{outcomeEvicted, outcomeRefusedByPDB, outcomeSeveralPDBs, outcomeGone, outcomeFailed}

// severalPDBsText is part of what the API server says of a pod with more than one
// PodDisruptionBudget. Nothing else tells this error from other internal ones.
const severalPDBsText = "more than one PodDisruptionBudget"

// severalPDBsPause is how long a pod with more than one budget is left alone: only a user can
// change that.
const severalPDBsPause = 5 * time.Minute

// classify returns the outcome of an eviction, and how long the API server asks to wait before the
// next attempt.
func classify(err error) (result outcome, wait time.Duration) {
	switch {
	case err == nil:
		return outcomeEvicted, 0
	case apierrors.IsTooManyRequests(err):
		seconds, _ := apierrors.SuggestsClientDelay(err)
		return outcomeRefusedByPDB, time.Duration(seconds) * time.Second
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return outcomeGone, 0
	case apierrors.IsInternalError(err) && strings.Contains(err.Error(), severalPDBsText):
		return outcomeSeveralPDBs, severalPDBsPause
	default:
		return outcomeFailed, 0
	}
}

// podError names the pod that could not be evicted.
func podError(pod *corev1.Pod, err error) error {
	return fmt.Errorf("evicting pod %s/%s: %w", pod.Namespace, pod.Name, err)
}
