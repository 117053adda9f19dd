// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"context"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// GivenTwice begins what a witness says who has seen something given to two at a time. A test run
// in which it is printed has failed, whatever comes of a second try (hack/test.sh).
const GivenTwice = "GIVEN TWICE: "

// Follow calls a function for every change after a revision, one at a time, until the spec ends.
// If changes were lost it is called with a Status instead of an object.
func Follow(
	revision string, start func(context.Context, metav1.ListOptions) (watch.Interface, error), see func(watch.Event),
) {
	ginkgo.GinkgoHelper()
	watching, stop := context.WithCancel(context.Background())
	watcher, err := watchtools.NewRetryWatcherWithContext(watching, revision, &cache.ListWatch{WatchFuncWithContext: start})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer ginkgo.GinkgoRecover()
		for event := range watcher.ResultChan() {
			see(event)
		}
	}()
	ginkgo.DeferCleanup(func() {
		stop()
		<-ended
	})
}
