// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/internal/auditlog"
)

const (
	// patience is how long anything may take on a machine that is busy with something else.
	patience = 3 * time.Minute
	poll     = 100 * time.Millisecond

	// workers is how many requests of the load are under way at a time.
	workers = 16
)

// world is the control plane with what a part of the benchmark needs to work on it.
type world struct {
	Options
	out    io.Writer
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
	log    *auditlog.Log
	// started counts the processes that were started, each of which has a name of its own, and address
	// is where the last one tells its metrics.
	started int
	address string
	// counting is true if decisions are counted, which takes the scheduler some time.
	counting bool
	// clusters is how many sites there are in a large cluster, and workloads are what runs there.
	clusters  int
	workloads []workload
}

func start(ctx context.Context, folder string, out io.Writer, o *Options) (*world, error) {
	w := &world{Options: *o, out: out}
	binaries, err := localplane.FindBinDir()
	if err != nil {
		return nil, err
	}
	if w.log, err = auditlog.New(folder); err != nil {
		return nil, err
	}
	w.plane, err = localplane.Start(ctx, localplane.Options{
		BinDir: binaries, StateDir: filepath.Join(folder, "state"),
		APIServerArgs:         append(w.log.Flags(), "--delete-collection-workers=16", "--feature-gates=DRAConsumableCapacity=true"),
		ControllerManagerArgs: []string{"--controllers=resourceclaim-controller"},
	})
	if err != nil {
		return nil, err
	}
	if err := w.install(ctx); err != nil {
		return nil, errors.Join(err, w.plane.Stop())
	}
	return w, nil
}

// install makes the clients, and applies what a user of Berth applies.
func (w *world) install(ctx context.Context) (err error) {
	config := w.plane.Config()
	if w.berth, err = versioned.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client of Berth's kinds: %w", err)
	}
	// The load should leave as much as possible of the machine to what is measured.
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	if w.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if err := localplane.ApplyCRDs(ctx, w.plane.Config(), "manifests/crds"); err != nil {
		return err
	}
	objects, err := localplane.BuildKustomization("manifests/base")
	if err != nil {
		return err
	}
	return localplane.ApplyObjects(ctx, w.plane.Config(), localplane.WithoutWorkloads(objects))
}

// sayf tells how far the benchmark is.
func (w *world) sayf(format string, args ...any) {
	fmt.Fprintf(w.out, "processes: "+format+"\n", args...)
}

// await polls until the check returns nil, or a program has ended by itself.
func (w *world) await(ctx context.Context, check func(context.Context) error) error {
	return localplane.Await(ctx, patience, w.plane.Exited(), check)
}

// parallel calls do with 0 to n-1, several at a time, and returns the first error.
func parallel(ctx context.Context, n int, do func(i int) error) error {
	problems := make([]error, n)
	workqueue.ParallelizeUntil(ctx, workers, n, func(i int) { problems[i] = do(i) })
	for _, err := range problems {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

const (
	// siteLabel is the label of nodes that tells their site.
	siteLabel = "example.com/site"
	// chosenSites is how many sites a workload is shared out over.
	chosenSites = 10
	// unit is what an extended resource is called that is split over the nodes of the sites.
	unit = "example.com/unit"
)

func siteName(s int) string { return "site-" + strconv.Itoa(s) }

// weightOf is the weight of a chosen site: two pods for every three in the next one.
func weightOf(s int) int { return 2 + s%2 }

// sharesOf returns how many of n pods, a multiple of 25, each of the chosen sites is to run.
func sharesOf(n int) map[string]int {
	shares := map[string]int{}
	for s := range chosenSites {
		shares[siteName(s)] = n / 25 * weightOf(s)
	}
	return shares
}

// createNodes makes nodes in a number of sites, with the Clusters of these. The nodes of the chosen
// sites, the first ones, have so many units that the pods get their shares of them.
func (w *world) createNodes(ctx context.Context, nodes, sites, pods int) error {
	units := map[int]int{}
	for s := range chosenSites {
		units[s] = sharesOf(pods)[siteName(s)]
	}
	err := parallel(ctx, nodes, func(i int) error {
		s := i % sites
		node := localplane.FakeNode(nodeName(i), map[string]string{siteLabel: siteName(s)}, nil)
		node.Annotations = nil // no kwok
		inSite, index := (nodes-s+sites-1)/sites, i/sites
		if here := units[s]*(index+1)/inSite - units[s]*index/inSite; here > 0 {
			quantity := *resource.NewQuantity(int64(here), resource.DecimalSI)
			node.Status.Capacity[unit], node.Status.Allocatable[unit] = quantity, quantity
		}
		_, err := w.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating the nodes: %w", err)
	}
	return w.createClusters(ctx, sites)
}

// createClusters makes the Clusters of the sites.
func (w *world) createClusters(ctx context.Context, sites int) error {
	err := parallel(ctx, sites, func(s int) error {
		cluster := &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: siteName(s)},
			Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: siteName(s)}},
		}
		_, err := w.berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating the Clusters: %w", err)
	}
	return nil
}

// deleteNodes removes the nodes and the Clusters.
func (w *world) deleteNodes(ctx context.Context) error {
	err := errors.Join(
		w.client.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
		w.berth.BerthV1alpha1().Clusters().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	if err != nil {
		return fmt.Errorf("deleting the nodes: %w", err)
	}
	return nil
}

// createNamespace makes a namespace that pods can be created in.
func (w *world) createNamespace(ctx context.Context, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := w.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the namespace: %w", err)
	}
	return w.await(ctx, func(ctx context.Context) error {
		_, err := w.client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// clear removes what a peer has made in its namespace, and waits until it is gone. A controller may
// make a pod once more at the last moment, so everything is removed again if it takes long.
func (w *world) clear(ctx context.Context, namespace string) (err error) {
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	const again = 3 * time.Second
	for range patience / again {
		err = errors.Join(
			w.berth.BerthV1alpha1().PropagationPolicies(namespace).DeleteCollection(ctx, now, everything),
			w.client.AppsV1().Deployments(namespace).DeleteCollection(ctx, now, everything),
			w.client.AppsV1().ReplicaSets(namespace).DeleteCollection(ctx, now, everything),
			w.client.CoreV1().Pods(namespace).DeleteCollection(ctx, now, everything),
			w.client.ResourceV1().ResourceClaims(namespace).DeleteCollection(ctx, now, everything))
		if err != nil {
			return fmt.Errorf("clearing namespace %s: %w", namespace, err)
		}
		err = localplane.Await(ctx, again, w.plane.Exited(), func(ctx context.Context) error { return w.isClear(ctx, namespace) })
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// isClear returns an error as long as there is something in a namespace that would go on to occupy
// the controllers.
func (w *world) isClear(ctx context.Context, namespace string) error {
	pods, err := w.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	claims, err := w.client.ResourceV1().ResourceClaims(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	if len(pods.Items)+len(claims.Items) > 0 {
		return errors.New("there are still pods or claims in namespace " + namespace)
	}
	return nil
}
