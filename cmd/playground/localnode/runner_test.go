// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localnode_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
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

func (p *plane) StateDir() string { return p.dir }

// served returns where a pod is said to serve what it has decided.
func (p *plane) served(t *testing.T, pod string) string {
	t.Helper()
	flag, err := os.ReadFile(filepath.Join(p.dir, localnode.HistoryDir, pod))
	address, found := strings.CutPrefix(strings.TrimSpace(string(flag)), "--history-from https://")
	if err != nil || !found {
		t.Fatalf("%s tells of its history: %q (%v)", pod, flag, err)
	}
	return address
}

func (p *plane) StartControllerManager(ctx context.Context, c localplane.Component) (*localplane.Process, error) {
	process, _, err := p.StartScheduler(ctx, nil, c)
	return process, err
}

func (p *plane) StartGateway(ctx context.Context, c localplane.Component) (*localplane.Process, string, error) {
	return p.StartScheduler(ctx, nil, c)
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
				Name: "scheduler", Image: "registry.example.com:5000/berth/berth-scheduler:v1@sha256:0", Args: []string{"--config=/etc/berth/config.yaml", "--scheduler-name=a"},
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
	served := p.served(t, pod().Name)
	if started.Name != pod().Name || strings.Join(started.Args, " ") != "--scheduler-name=a --history-bind-address="+served ||
		strings.Join(started.Env, " ") != "GOGC=200" || !started.MayEnd {
		t.Errorf("it started %+v", started)
	}
	await(t, client, func(pod *corev1.Pod) bool { return ready(pod) && pod.Status.Phase == corev1.PodRunning })
	if err := client.CoreV1().Pods(localplane.BerthNamespace).Delete(t.Context(), pod().Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(t.Context(), poll, timeout, true, func(context.Context) (bool, error) {
		_, err := os.Stat(filepath.Join(p.dir, localnode.HistoryDir, pod().Name))
		return os.IsNotExist(err), nil
	}); err != nil {
		t.Errorf("a pod that is gone is said to tell of its history: %v", err)
	}
}

func TestTheOtherProgramsRunToo(t *testing.T) {
	for name, tc := range map[string]struct {
		image, wantConfig string
		args, wantArgs    []string
	}{
		"the controller manager": {
			image: "berth-controller-manager:v1", args: []string{"--scheduler-config=/etc/berth/config.yaml", "--v=2"},
			wantArgs: []string{
				"--v=2", "--scheduler-config=DIR/berth-scheduler-a-1-config.yaml", "--history-bind-address=SERVED",
			},
			wantConfig: "kind: Settings",
		},
		"the controller manager, with a configuration of its own": {
			image: "berth-controller-manager", args: []string{"--v=2"},
			wantArgs: []string{"--v=2", "--history-bind-address=SERVED"},
		},
		"the gateway": {image: "example.com/berth-gateway", args: []string{"--v=2"}, wantArgs: []string{"--v=2"}},
	} {
		t.Run(name, func(t *testing.T) {
			object := pod()
			object.Spec.Containers[0].Image, object.Spec.Containers[0].Args = tc.image, tc.args
			p := run(t, fake.NewClientset(object, settings("config.yaml")))
			started := <-p.started
			for i := range tc.wantArgs {
				if tc.wantArgs[i] = strings.ReplaceAll(tc.wantArgs[i], "DIR", p.dir); strings.Contains(tc.wantArgs[i], "SERVED") {
					tc.wantArgs[i] = strings.ReplaceAll(tc.wantArgs[i], "SERVED", p.served(t, object.Name))
				}
			}
			if !slices.Equal(started.Args, tc.wantArgs) || !started.MayEnd {
				t.Errorf("it started %+v, want the arguments %q", started, tc.wantArgs)
			}
			content, err := os.ReadFile(filepath.Join(p.dir, "berth-scheduler-a-1-config.yaml"))
			if string(content) != tc.wantConfig {
				t.Errorf("the configuration is %q (%v), want %q", content, err, tc.wantConfig)
			}
		})
	}
}

func TestAPodOfAnotherProgramIsLeftAlone(t *testing.T) {
	other := pod()
	other.Name, other.UID, other.Spec.Containers[0].Image = "other", "2", "nginx"
	client := fake.NewClientset(other, pod(), settings("config.yaml"))
	p := run(t, client)
	if started := <-p.started; started.Name != pod().Name {
		t.Errorf("it started %s", started.Name)
	}
	await(t, client, ready)
	if len(p.started) != 0 {
		t.Errorf("it started %s too", (<-p.started).Name)
	}
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
			want: `the file "/etc/berth/config.yaml" that an argument names is not in a volume made of a ConfigMap`,
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
