// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"maps"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// actionRead is the action of the events about Subscriptions.
const actionRead = "ReadFeeds"

// maxNote bounds the text of an event; the API server allows 1024 bytes.
const maxNote = 1000

// recordEvent makes an event when feeds of a Subscription are missing, and when none is any more.
// Another message makes none.
func (r *Reconciler) recordEvent(before *berthv1alpha1.Subscription, parsed *metav1.Condition) {
	old := apimeta.FindStatusCondition(before.Status.Conditions, parsed.Type)
	switch {
	case r.recorder == nil, old != nil && old.Status == parsed.Status:
	case parsed.Status == metav1.ConditionFalse:
		note := parsed.Message
		if len(note) > maxNote {
			note = strings.ToValidUTF8(note[:maxNote], "")
		}
		r.recorder.Eventf(before, nil, corev1.EventTypeWarning, parsed.Reason, actionRead, "%s", note)
	case old != nil:
		r.recorder.Eventf(before, nil, corev1.EventTypeNormal, parsed.Reason, actionRead, allKnown)
	}
}

var feedsByReason = &feedCollector{
	description: prometheus.NewDesc("berth_subscription_feeds",
		"Feeds of all Subscriptions, by the reason of their condition Parsed.", []string{"reason"}, nil),
	subscriptions: map[types.NamespacedName]map[string]int{},
}

func init() {
	metrics.Registry.MustRegister(feedsByReason)
}

// feedCollector counts feeds. Namespaces and names are no labels: users make as many of them as
// they like.
type feedCollector struct {
	description *prometheus.Desc

	mu            sync.Mutex
	subscriptions map[types.NamespacedName]map[string]int
}

func (c *feedCollector) note(subscription types.NamespacedName, findings []finding) {
	reasons := map[string]int{}
	for i := range findings {
		reasons[findings[i].reason]++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subscriptions[subscription] = reasons
}

func (c *feedCollector) forget(subscription types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.subscriptions, subscription)
}

// Describe implements prometheus.Collector.
func (c *feedCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- c.description
}

// Collect implements prometheus.Collector.
func (c *feedCollector) Collect(collected chan<- prometheus.Metric) {
	total := map[string]int{}
	c.mu.Lock()
	for reasons := range maps.Values(c.subscriptions) {
		for reason, n := range reasons {
			total[reason] += n
		}
	}
	c.mu.Unlock()
	for reason, n := range total {
		collected <- prometheus.MustNewConstMetric(c.description, prometheus.GaugeValue, float64(n), reason)
	}
}
