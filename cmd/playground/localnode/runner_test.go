// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localnode_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/cmd/playground/localnode"
	"berth.dev/berth/pkg/localplane"
)

const (
	timeout = 30 * time.Second
	poll    = 10 * time.Millisecond
)

// plane starts a process that does nothing, and tells what it was asked for.
type plane struct {
	dir     string
	started chan localplane.Component
	config  chan string
}

func (p *plane) StartScheduler(
	ctx context.Context, configuration []byte, c localplane.Component,
) (*localplane.Process, string, error) {
	process, err := localplane.StartProcess(ctx, localplane.ProcessOptions{
		Name: c.Name, Path: "/bin/sleep", Args: []string{"60"}, LogPath: filepath.Join(p.dir, c.Name), MayEnd: c.MayEnd,
	})
	p.config <- string(configuration)
	p.started <- c
	return process, "", err
}

// run runs the pods of the client until the test ends.
func run(t *testing.T, client kubernetes.Interface) *plane {
	t.Helper()
	p := &plane{dir: t.TempDir(), started: make(chan localplane.Component, 8), config: make(chan string, 8)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- localnode.New(client, p).Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return p
}

// pod is one that has been bound to this machine, because the fake API server binds nothing.
func pod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: localplane.BerthNamespace, Name: "berth-scheduler-a-1", UID: "1",
			Labels: map[string]string{berthv1alpha1.SchedulerLabel: "a"},
		},
		Spec: corev1.PodSpec{
			NodeName: localnode.NodeName,
			Containers: []corev1.Container{{
				Name: "scheduler", Args: []string{"--config=/etc/berth/config.yaml", "--scheduler-name=a"},
				Env:          []corev1.EnvVar{{Name: "GOGC", Value: "200"}},
				VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/berth"}},
			}},
			Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}},
			}}},
		},
	}
}

func settings(file string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: localplane.BerthNamespace, Name: "settings"},
		Data:       map[string]string{file: "kind: Settings"},
	}
}

// await waits until the status of the pod is as wanted.
func await(t *testing.T, client kubernetes.Interface, want func(*corev1.Pod) bool) {
	t.Helper()
	var now *corev1.Pod
	err := wait.PollUntilContextTimeout(t.Context(), poll, timeout, true, func(ctx context.Context) (done bool, err error) {
		now, err = client.CoreV1().Pods(localplane.BerthNamespace).Get(ctx, pod().Name, metav1.GetOptions{})
		return err == nil && want(now), err
	})
	if err != nil {
		t.Fatalf("%v, the status is %+v", err, now.Status)
	}
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func TestAPodRunsAsAProcess(t *testing.T) {
	client := fake.NewClientset(pod(), settings("config.yaml"))
	p := run(t, client)
	if got := <-p.config; got != "kind: Settings" {
		t.Errorf("the configuration is %q", got)
	}
	started := <-p.started
	if started.Name != pod().Name || strings.Join(started.Args, " ") != "--scheduler-name=a" ||
		strings.Join(started.Env, " ") != "GOGC=200" || !started.MayEnd {
		t.Errorf("it started %+v", started)
	}
	await(t, client, func(pod *corev1.Pod) bool { return ready(pod) && pod.Status.Phase == corev1.PodRunning })
}

func TestAPodThatCannotBeStartedSaysWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		settings *corev1.ConfigMap
		change   func(*corev1.Pod)
		want     string
	}{
		"no such file in the ConfigMap": {
			settings: settings("other.yaml"), change: func(*corev1.Pod) {}, want: "the ConfigMap settings has no file config.yaml",
		},
		"no such volume": {
			settings: settings("config.yaml"), change: func(p *corev1.Pod) { p.Spec.Volumes = nil },
			want: `the file "/etc/berth/config.yaml" that --config names is not in a volume made of a ConfigMap`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := pod()
			tc.change(object)
			client := fake.NewClientset(object, tc.settings)
			run(t, client)
			await(t, client, func(pod *corev1.Pod) bool {
				return !ready(pod) && len(pod.Status.ContainerStatuses) == 1 &&
					pod.Status.ContainerStatuses[0].State.Waiting != nil &&
					pod.Status.ContainerStatuses[0].State.Waiting.Message == tc.want
			})
		})
	}
}
