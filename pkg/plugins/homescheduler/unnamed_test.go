// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

const eventTimeout = 30 * time.Second

func TestAProcessWithoutANameTellsWhetherItStandsBack(t *testing.T) {
	client := fake.NewSimpleClientset(shard("b", nil), shard("a", nil))
	shared := homescheduler.NewShared("", clock.RealClock{})
	var err error
	shared.Catalog, err = catalog.NewHomeCatalog(client, "", clock.RealClock{}, time.Minute, func(_, _ *catalog.Homes) {})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 8)
	leader := fence.New()
	go shared.Run(t.Context(), &homescheduler.Background{
		Fence: leader,
		Tell: func(regarding *corev1.ObjectReference, reason, _ string) {
			told <- regarding.Kind + " " + regarding.Name + " " + reason
		},
	})
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-told:
			if got != want {
				t.Fatalf("told %q, want %q", got, want)
			}
		case <-time.After(eventTimeout):
			t.Fatalf("told nothing within %v, want %q", eventTimeout, want)
		}
	}
	leader.KeepOpen()
	expect("Scheduler a " + berthv1alpha1.ReasonStandsBack)
	for _, name := range []string{"b", "a"} {
		if err := client.BerthV1alpha1().Schedulers().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	expect("Scheduler a " + berthv1alpha1.ReasonTakesOver)
}
