// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
	"berth.dev/berth/test/internal/proxy"
)

// The Binding of a holder carries the version of the pod, which others move meanwhile.
var _ = Describe("a pod that is given a unit is bound, and nobody else has the unit", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSite(ctx)
		s.createNode(ctx, "one", "", "32")
		s.createResource(ctx, "licence", s.capacity("", "1"))
	})

	It("although its volume is bound first", func(ctx SpecContext) {
		s.createVolume(ctx)
		s.createPod(ctx, "first", asking("licence", "1"), withClaim("data"))
		Eventually(s.claimant).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeNil())
		s.createPod(ctx, "second", asking("licence", "1"))
		s.expectWaiting(ctx, "second", fmt.Sprintf(usedUp, s.full("licence")))
		s.touch(ctx, "first", "while the volume is bound")
		s.bindVolume(ctx)
		s.expectBound(ctx, "first")
		Expect(s.state(ctx, "second")).To(Equal(waiting))
		s.removePod(ctx, "first")
		s.expectBound(ctx, "second")
	})

	It("although its version moves fifty times a second", func(ctx SpecContext) {
		s.createPod(ctx, "holder", asking("licence", "1"))
		s.expectBound(ctx, "holder")
		s.createPod(ctx, "restless", asking("licence", "1"))
		s.expectWaiting(ctx, "restless", fmt.Sprintf(usedUp, s.full("licence")))
		moving, still := context.WithCancel(ctx)
		ended := make(chan int)
		go func() {
			defer GinkgoRecover()
			ended <- s.keepMoving(moving, "restless")
		}()
		s.removePod(ctx, "holder")
		s.expectBound(ctx, "restless")
		still()
		AddReportEntry("restless", fmt.Sprintf("%d versions until it was bound", <-ended), ReportEntryVisibilityAlways)
	})

	It("although it has to wait for permission, and its version moves meanwhile", Serial, func(ctx SpecContext) {
		installPodGroups(ctx)
		replaceMain()
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "permission", Configuration: withCoscheduling(600)}).EndAfterwards()
		s.createPodGroup(ctx, "pair", 2)
		member := withLabels(map[string]string{gangLabel: "pair"})
		s.createPod(ctx, "never", member, byNobody)
		s.createPod(ctx, "first", asking("licence", "1"), member)
		s.expectNominated(ctx, "first")
		s.createPod(ctx, "behind", asking("licence", "1"))
		s.expectWaiting(ctx, "behind", fmt.Sprintf(usedUp, s.full("licence")))
		s.touch(ctx, "first", "while it waits for permission")
		s.createPod(ctx, "second", member)
		s.expectBound(ctx, "first", "second")
		Expect(s.state(ctx, "behind")).To(Equal(waiting))
		s.removePod(ctx, "first")
		s.expectBound(ctx, "behind")
	})

	It("although the status of its last attempt is written at the moment of its Binding", Serial, func(ctx SpecContext) {
		replaceMain()
		between, err := proxy.Start(ctx, installation.ConfigOf(plane, schedulerproc.Name))
		Expect(err).NotTo(HaveOccurred())
		fates := []proxy.Fate{{Lost: true, Answer: proxy.Broken}}
		between.Decide(func() (fate proxy.Fate) {
			if len(fates) > 0 {
				fate, fates = fates[0], fates[1:]
			}
			return fate
		})
		between.HoldConditions()
		schedulerproc.Start(ctx, plane, schedulerproc.Options{
			Name: "behind", Args: append([]string{"--master=" + between.Address()}, schedulerproc.Patient...),
		}).EndAfterwards()
		s.createPod(ctx, "first", asking("licence", "1"))
		s.expectBound(ctx, "first")
		Expect(between.Held()).To(BeNumerically(">", 0), "writes of a status that met a Binding of the same pod")
		Expect(between.Bindings()).To(BeNumerically(">", 2), "one is lost, and one has an old version")
		s.createPod(ctx, "second", asking("licence", "1"))
		s.expectToStay(ctx, waiting, "second")
		s.removePod(ctx, "first")
		s.expectBound(ctx, "second")
	})
})

// touch writes something into the status of a pod that nobody reads.
func (s *site) touch(ctx context.Context, name, message string) {
	GinkgoHelper()
	_, err := client.CoreV1().Pods(s.namespace).Patch(ctx, name, types.MergePatchType,
		[]byte(`{"status":{"message":`+strconv.Quote(message)+`}}`), metav1.PatchOptions{}, "status")
	Expect(err).NotTo(HaveOccurred())
}

// keepMoving touches a pod fifty times a second until the context ends, and returns how often.
func (s *site) keepMoving(ctx context.Context, name string) (versions int) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return versions
		case <-ticker.C:
			versions++
			s.touch(context.WithoutCancel(ctx), name, "version "+strconv.Itoa(versions))
		}
	}
}

// withClaim lets a pod use a claim for a volume.
func withClaim(name string) option {
	return func(_ *site, pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}}}
	}
}

// createVolume makes a volume, and a claim that is bound to it when a pod needs it.
func (s *site) createVolume(ctx context.Context) {
	GinkgoHelper()
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: s.full("local")}, Provisioner: "kubernetes.io/no-provisioner",
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: s.full("data")},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, StorageClassName: s.full("local"),
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	s.setVolume(ctx, corev1.VolumeAvailable)
	_, err = client.CoreV1().PersistentVolumeClaims(s.namespace).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: ptr.To(s.full("local")), Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// claimant returns which claim the scheduler has bound the volume to, nil if none.
func (s *site) claimant(ctx context.Context) (*corev1.ObjectReference, error) {
	volume, err := client.CoreV1().PersistentVolumes().Get(ctx, s.full("data"), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return volume.Spec.ClaimRef, nil
}

// bindVolume binds the claim to the volume, which here no controller does.
func (s *site) bindVolume(ctx context.Context) {
	GinkgoHelper()
	s.setVolume(ctx, corev1.VolumeBound)
	claims := client.CoreV1().PersistentVolumeClaims(s.namespace)
	_, err := claims.Patch(ctx, "data", types.MergePatchType, []byte(`{"metadata":{"annotations":{`+
		`"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"`+s.full("data")+`"}}`), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = claims.Patch(ctx, "data", types.MergePatchType, []byte(`{"status":{"phase":"Bound"}}`), metav1.PatchOptions{}, "status")
	Expect(err).NotTo(HaveOccurred())
}

// setVolume sets the phase of the volume.
func (s *site) setVolume(ctx context.Context, phase corev1.PersistentVolumePhase) {
	GinkgoHelper()
	_, err := client.CoreV1().PersistentVolumes().Patch(ctx, s.full("data"), types.MergePatchType,
		[]byte(`{"status":{"phase":"`+string(phase)+`"}}`), metav1.PatchOptions{}, "status")
	Expect(err).NotTo(HaveOccurred())
}
