// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/model/rights"
)

// World is a running playground.
type World struct {
	// Client and Berth act as the administrator.
	Client kubernetes.Interface
	Berth  versioned.Interface

	options Options
	plane   *localplane.ControlPlane
	// gateway is where berth-gateway serves, and rest asks it as who may register clusters.
	gateway string
	rest    *http.Client
	// histories are the URLs of HistoryURLs.
	histories []string
	// stopRunner ends what runs the pods of Berth, and returns when it starts no further process.
	stopRunner func()
}

// Start brings up the world and tells on out how far it is. When it fails or the context ends,
// nothing is left behind.
func Start(ctx context.Context, options Options, out io.Writer) (*World, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(out, "[%5.1fs] %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	plane, err := localplane.Start(ctx, options.plane(func(message string) { say("%s", message) }))
	if err != nil {
		return nil, err
	}
	w := &World{options: options, plane: plane, stopRunner: func() {}}
	if err := w.populate(ctx, say); err != nil {
		// Stop would only repeat which program failed.
		_ = w.Stop()
		return nil, err
	}
	say("ready; this is not for production")
	return w, nil
}

// populate fills the control plane.
func (w *World) populate(ctx context.Context, say func(string, ...any)) error {
	var err error
	if w.Client, err = kubernetes.NewForConfig(w.plane.Config()); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if w.Berth, err = versioned.NewForConfig(w.plane.Config()); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if w.options.Empty {
		w.runPods(ctx)
		say("making %d places with %d nodes each", w.options.Clusters, w.options.Nodes)
		return w.createPlaces(ctx, func(context.Context, string, map[string]string) error { return nil })
	}
	say("installing the API and the permissions of Berth")
	if err := w.install(ctx); err != nil {
		return err
	}
	say("starting %s, %s and %s", localplane.BerthScheduler, localplane.BerthControllerManager, localplane.BerthGateway)
	if err := w.startComponents(ctx); err != nil {
		return err
	}
	if err := w.startGateway(ctx); err != nil {
		return err
	}
	w.runPods(ctx)
	say("registering %d clusters with %d nodes each over REST", w.options.Clusters, w.options.Nodes)
	if err := w.createClusters(ctx); err != nil {
		return err
	}
	return w.waitReady(ctx)
}

// plane says how the control plane is started.
func (o Options) plane(progress func(string)) localplane.Options {
	options := localplane.Options{BinDir: o.BinDir, StateDir: o.StateDir, KeepState: o.Keep, Progress: progress}
	if o.Empty {
		// What the chart's injection needs is off by default up to Kubernetes 1.35.
		options.APIServerArgs = []string{
			"--feature-gates=MutatingAdmissionPolicy=true", "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
		}
	}
	return options
}

// install applies what an administrator applies, except for the Deployments of programs that run as
// processes here. That of berth-scheduler stays as what managed Schedulers are made of.
func (w *World) install(ctx context.Context) error {
	config := w.plane.Config()
	if err := localplane.ApplyCRDs(ctx, config, filepath.Join(w.options.Manifests, "crds")); err != nil {
		return err
	}
	objects, err := localplane.BuildKustomization(filepath.Join(w.options.Manifests, "base"))
	if err != nil {
		return err
	}
	template, err := schedulerTemplate(objects)
	if err != nil {
		return err
	}
	if err := localplane.ApplyObjects(ctx, config, append(localplane.WithoutWorkloads(objects), template)); err != nil {
		return err
	}
	return w.allow(ctx, metav1.NamespaceDefault)
}

// allow lets Berth write what the Applications and Subscriptions of a namespace list.
func (w *World) allow(ctx context.Context, namespace string) error {
	role, bindings := rights.Objects(namespace, rights.DefaultServiceAccount)
	if _, err := w.Client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("allowing Berth to write in namespace %s: %w", namespace, err)
	}
	for _, binding := range bindings {
		if _, err := w.Client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("allowing Berth to write in namespace %s: %w", namespace, err)
		}
	}
	return nil
}

// Exited delivers the first program that ended by itself.
func (w *World) Exited() <-chan error { return w.plane.Exited() }

// Stop ends everything and removes the state unless it is to be kept.
func (w *World) Stop() error {
	w.stopRunner()
	return w.plane.Stop()
}

// AdminKubeconfig returns the path of the administrator's kubeconfig.
func (w *World) AdminKubeconfig() string { return w.plane.AdminKubeconfig() }

// BinDir returns the directory with the programs.
func (w *World) BinDir() string { return w.options.BinDir }

// LogDir returns the directory with one log per program.
func (w *World) LogDir() string { return w.plane.LogDir() }

// StateDir returns the directory that holds everything of this run.
func (w *World) StateDir() string { return w.plane.StateDir() }

// Example returns the path of the manifest that a newcomer starts with: the example of KubeEdge's
// node-group proposal.
func (w *World) Example() string { return w.example("node-groups", "nginx.yaml") }

// SchedulersExample returns the path of the manifest with three managed Schedulers.
func (w *World) SchedulersExample() string { return w.example("schedulers", "managed.yaml") }

func (w *World) example(parts ...string) string {
	return filepath.Join(append([]string{filepath.Dir(w.options.Manifests), "examples"}, parts...)...)
}
