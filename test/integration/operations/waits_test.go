// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"bytes"
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"berth.dev/berth/test/integration/internal/promserver"
)

// grow makes the pod of a Deployment older than it is, in etcd: no user can, and nobody waits here
// for as long.
func grow(ctx context.Context, app string, by time.Duration) {
	GinkgoHelper()
	config, err := plane.EtcdTLS()
	Expect(err).NotTo(HaveOccurred())
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{plane.EtcdURL()}, TLS: config, Logger: zap.NewNop()})
	Expect(err).NotTo(HaveOccurred())
	defer etcd.Close()
	pods, err := plane.Client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	Expect(err).NotTo(HaveOccurred())
	Expect(pods.Items).To(HaveLen(1))
	write := func(g Gomega) {
		key := "/registry/pods/default/" + pods.Items[0].Name
		answer, err := etcd.Get(ctx, key)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Kvs).To(HaveLen(1))
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(answer.Kvs[0].Value, nil, nil)
		g.Expect(err).NotTo(HaveOccurred())
		pod, ok := object.(*corev1.Pod)
		g.Expect(ok).To(BeTrue())
		pod.CreationTimestamp = metav1.NewTime(pods.Items[0].CreationTimestamp.Add(-by))
		var stored bytes.Buffer
		g.Expect(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(pod, &stored)).To(Succeed())
		written, err := etcd.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", answer.Kvs[0].ModRevision)).
			Then(clientv3.OpPut(key, stored.String())).Commit()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(written.Succeeded).To(BeTrue(), "somebody has written it meanwhile")
	}
	Eventually(write).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// flap takes the node of the site island away and brings it back, until Prometheus has seen both so
// often.
func flap(ctx context.Context, server *promserver.Server, times int) {
	GinkgoHelper()
	ready := func(want string) {
		GinkgoHelper()
		Eventually(func() (any, error) {
			var answer struct{ Result []struct{ Value [2]any } }
			err := server.Ask(ctx, "query?query=berth:clusters_ready:count", &answer)
			if err != nil || len(answer.Result) != 1 {
				return nil, err
			}
			return answer.Result[0].Value[1], nil
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
	}
	for range times {
		kubectl(ctx, "delete node reef")
		ready("2")
		node(ctx, "reef", nil)
		ready("3")
	}
}

// ofWaits are faults that nobody sees at one look.
func ofWaits(server *promserver.Server) []planted {
	return []planted{
		{
			name: "a site flaps", alert: "BerthClusterFlaps", plant: func(ctx context.Context) { flap(ctx, server, 4) },
			cause: `NAME[^\n]*\n(harbour|river)[^\n]*\n(harbour|river)[^\n]*\nisland`,
			page:  "sites?sort=sites.changed", shows: "Readiness changed island",
		},
		{
			name: "a waiter starves", alert: "BerthPodStarves",
			plant: func(ctx context.Context) {
				apply(ctx, "starved")
				until(ctx, "get pods -l app=starved -o 'jsonpath={.items[*].status.conditions[*].reason}'", "Unschedulable")
				grow(ctx, "starved", time.Hour)
			},
			names: []string{
				"pod NAME -n NAMESPACE", "pod $(kubectl get pods -o name -l app=starved | cut -d/ -f2) -n default",
				"deployment/NAME -n NAMESPACE", "deployment/starved -n default",
			},
			cause: `(?s)starved-\S+ .*Insufficient cpu`, page: "waiting", shows: "starved-",
		},
	}
}

var _ = Describe("Faults that last", func() {
	It("raise their alerts and no others, and can be found", func(ctx SpecContext) {
		server := watched(ctx)
		inTurn(ctx, server, ofWaits(server))
	})
})
