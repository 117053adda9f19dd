// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localnode

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/history/serve"
	"berth.dev/berth/pkg/localplane"
)

// Flags that name the configuration of a scheduler, which in a pod is a file of a ConfigMap.
const (
	configFlag          = "--config="
	schedulerConfigFlag = "--scheduler-config="
)

// programOf returns the program of Berth that a pod runs, by the name of its image, and nothing for
// other pods.
func programOf(pod *corev1.Pod) string {
	if len(pod.Spec.Containers) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(pod.Spec.Containers[0].Image, "@")
	name, _, _ = strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	switch name {
	case localplane.BerthScheduler, localplane.BerthControllerManager, localplane.BerthGateway:
		return name
	default:
		return ""
	}
}

// launch starts the program of a pod with the arguments and variables of its container. Only where
// it finds the API server and where it listens differ.
func (r *Runner) launch(ctx context.Context, pod *corev1.Pod) (process *localplane.Process, err error) {
	container := &pod.Spec.Containers[0]
	c := localplane.Component{Name: pod.Name, Args: container.Args, Env: localplane.EnvOf(container), MayEnd: true}
	switch programOf(pod) {
	case localplane.BerthControllerManager:
		if err := r.keepFile(ctx, pod, &c, schedulerConfigFlag); err != nil {
			return nil, err
		}
		if err := r.remember(pod.Name, &c); err != nil {
			return nil, err
		}
		return r.plane.StartControllerManager(ctx, c)
	case localplane.BerthGateway:
		process, _, err = r.plane.StartGateway(ctx, c)
		return process, err
	default:
		file := ""
		c.Args, file = without(c.Args, configFlag)
		configuration, err := r.read(ctx, pod, file)
		if err != nil {
			return nil, err
		}
		if err := r.remember(pod.Name, &c); err != nil {
			return nil, err
		}
		process, _, err = r.plane.StartScheduler(ctx, configuration, c)
		return process, err
	}
}

// HistoryDir is the folder below the state directory with a file for each pod that remembers what
// it decides: the flag by which berthctl explain --history asks it. No kubelet forwards ports here.
const HistoryDir = "history"

// remember has a program serve what it decides, at a port of its own: all pods are on one machine.
func (r *Runner) remember(name string, c *localplane.Component) error {
	port, err := localplane.FreePort()
	if err != nil {
		return fmt.Errorf("finding a port for the history: %w", err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	c.Args = append(c.Args, "--"+serve.Flag+"="+address)
	file := r.historyFile(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("telling where the history is: %w", err)
	}
	if err := os.WriteFile(file, []byte("--history-from https://"+address+"\n"), 0o600); err != nil {
		return fmt.Errorf("telling where the history is: %w", err)
	}
	return nil
}

func (r *Runner) historyFile(name string) string {
	return filepath.Join(r.plane.StateDir(), HistoryDir, name)
}

// keepFile writes the file that a flag names to this machine, and has the flag name it there.
func (r *Runner) keepFile(ctx context.Context, pod *corev1.Pod, c *localplane.Component, flag string) error {
	args, file := without(c.Args, flag)
	if file == "" {
		return nil
	}
	c.Args = args
	content, err := r.read(ctx, pod, file)
	if err != nil {
		return err
	}
	path := filepath.Join(r.plane.StateDir(), pod.Name+"-"+filepath.Base(file))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("keeping a file of the pod: %w", err)
	}
	c.Args = append(c.Args, flag+path)
	return nil
}

// without returns the arguments without those of a flag, and the last value that it was given.
func without(args []string, flag string) (rest []string, value string) {
	for _, arg := range args {
		if after, found := strings.CutPrefix(arg, flag); found {
			value = after
		} else {
			rest = append(rest, arg)
		}
	}
	return rest, value
}
