// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/cmd/playground/podwatch"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/placement/binding"
)

// The first two schedulers are run by berth-controller-manager, the third is started by hand.
const first, second, third = "s1", "s2", "s3"

const crowdBefore, crowdAfter = 120, 240

// quickElection makes the third scheduler count as dead within seconds, and leaves it time to renew
// its lease on a busy machine.
var quickElection = []string{
	"--leader-elect-lease-duration=12s", "--leader-elect-renew-deadline=10s", "--leader-elect-retry-period=1s",
}

// shareClusters is step 11: clusters are shared out among schedulers, and each places the pods of
// its own.
func (d *demo) shareClusters(ctx context.Context) (string, error) {
	d.printf("creating %d more clusters with one node each", sites)
	if err := d.createSites(ctx); err != nil {
		return "", err
	}
	d.printf("creating the Schedulers %s and %s with spec.managed, and starting berth-scheduler --scheduler-name=%s", first, second, third)
	for _, name := range []string{first, second} {
		_, err := d.berth.BerthV1alpha1().Schedulers().Create(ctx, &berthv1alpha1.Scheduler{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       berthv1alpha1.SchedulerSpec{Managed: &berthv1alpha1.ManagedScheduler{}},
		}, metav1.CreateOptions{})
		if err != nil {
			return "", fmt.Errorf("creating Scheduler %s: %w", name, err)
		}
	}
	var err error
	d.third, err = d.world.StartScheduler(ctx, localplane.Component{
		Name: "berth-scheduler-" + third, Args: append([]string{"--scheduler-name=" + third}, quickElection...),
	})
	if err != nil {
		return "", err
	}
	if _, err := d.awaitHomes(ctx, first, second, third); err != nil {
		return "", err
	}
	d.printf("creating Deployment %s with %d replicas and a policy that shares them out over the new clusters", crowd, crowdBefore)
	if err := d.createCrowd(ctx, crowdBefore); err != nil {
		return "", err
	}
	placed, err := d.awaitCrowd(ctx, crowdBefore)
	if err != nil {
		return "", err
	}
	for _, name := range []string{first, second, third} {
		if placed[name] == 0 {
			return "", fmt.Errorf("scheduler %s placed no pod: %s", name, placed)
		}
	}
	return fmt.Sprintf("no scheduler has more than 1.1 times its share of the clusters; %d pods exactly as shared out, placed by %s",
		crowdBefore, placed), nil
}

// killScheduler is step 12: only the clusters of a scheduler that dies move, and no pod is lost,
// moved or bound twice.
func (d *demo) killScheduler(ctx context.Context) (string, error) {
	before, err := d.waitHomes(ctx, first, second, third)
	if err != nil {
		return "", err
	}
	recorder, err := podwatch.Start(ctx, d.client, namespace, "app="+crowd)
	if err != nil {
		return "", err
	}
	d.printf("scaling Deployment %s to %d, and killing %s", crowd, crowdAfter, third)
	scale := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, crowdAfter)
	_, err = d.client.AppsV1().Deployments(namespace).Patch(ctx, crowd, types.MergePatchType, scale, metav1.PatchOptions{})
	if err != nil {
		return "", fmt.Errorf("scaling Deployment %s: %w", crowd, err)
	}
	if err := d.third.Kill(syscall.SIGKILL); err != nil {
		return "", err
	}
	after, err := d.awaitHomes(ctx, first, second)
	if err != nil {
		return "", err
	}
	moved, others := compareHomes(before, after, third)
	if most := len(before)/20 + 2; others > most {
		return "", fmt.Errorf("%d clusters of schedulers that run moved, must be at most %d", others, most)
	}
	if _, err := d.awaitCrowd(ctx, crowdAfter); err != nil {
		return "", err
	}
	seen, err := recorder.Stop(ctx)
	if err != nil {
		return "", err
	}
	if len(seen.Gone) > 0 || len(seen.Rebound) > 0 {
		return "", fmt.Errorf("no pod may be deleted or bound twice: %s", seen)
	}
	return fmt.Sprintf("the %d clusters of %s moved and %d of the others; all %d pods run, exactly as shared out, none bound twice",
		moved, third, others, crowdAfter), nil
}

// retireScheduler is step 13: a managed scheduler that is deleted gives its clusters up before it
// is stopped.
func (d *demo) retireScheduler(ctx context.Context) (string, error) {
	recorder, err := podwatch.Start(ctx, d.client, namespace, "app="+crowd)
	if err != nil {
		return "", err
	}
	d.printf("deleting Scheduler %s", second)
	if err := d.berth.BerthV1alpha1().Schedulers().Delete(ctx, second, metav1.DeleteOptions{}); err != nil {
		return "", fmt.Errorf("deleting Scheduler %s: %w", second, err)
	}
	homes, err := d.awaitHomes(ctx, first)
	if err != nil {
		return "", err
	}
	if err := d.awaitStopped(ctx, second); err != nil {
		return "", err
	}
	seen, err := recorder.Stop(ctx)
	if err != nil {
		return "", err
	}
	if len(seen.Gone) > 0 || len(seen.Rebound) > 0 || seen.MinReady != crowdAfter {
		return "", fmt.Errorf("no pod may notice: %s", seen)
	}
	return fmt.Sprintf("%s has all %d clusters, %s is gone and its process stopped; no pod noticed", first, len(homes), second), nil
}

// compareHomes returns how many clusters of the lost scheduler, and how many others, have another
// home than before.
func compareHomes(before, after map[string]string, lost string) (moved, others int) {
	for cluster, h := range before {
		switch {
		case after[cluster] == h:
		case h == lost:
			moved++
		default:
			others++
		}
	}
	return moved, others
}

// awaitHomes is waitHomes, and shows the Schedulers and the bindings.
func (d *demo) awaitHomes(ctx context.Context, names ...string) (map[string]string, error) {
	now, err := d.waitHomes(ctx, names...)
	if err != nil {
		return nil, err
	}
	return now, d.printHomes(ctx)
}

// waitHomes waits until every cluster is bound to the scheduler that bounded rendezvous hashing
// gives it to, of those named.
func (d *demo) waitHomes(ctx context.Context, names ...string) (map[string]string, error) {
	schedulers := binding.Schedulers{}
	for _, name := range names {
		schedulers[name] = &binding.Scheduler{Name: name, Weight: 1, Registered: true, Alive: true}
	}
	var now map[string]string
	err := d.await(ctx, func(ctx context.Context) error {
		list, err := d.berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing Clusters: %w", err)
		}
		now = map[string]string{}
		inputs := make([]binding.BoundCluster, len(list.Items))
		for i := range list.Items {
			c := &list.Items[i]
			inputs[i] = binding.BoundCluster{Name: c.Name, Size: binding.SizeOf(int(c.Status.NodeCount))}
			if c.Status.HomeTransfer != nil || !apimeta.IsStatusConditionTrue(c.Status.Conditions, berthv1alpha1.ClusterBound) {
				return fmt.Errorf("cluster %s is not bound yet", c.Name)
			}
			now[c.Name] = c.Status.HomeScheduler
		}
		desired, err := binding.Desired(inputs, schedulers)
		if err != nil {
			return err
		}
		want := map[string]string{}
		for i := range inputs {
			want[inputs[i].Name] = desired[i]
		}
		if !maps.Equal(now, want) {
			return fmt.Errorf("the clusters are bound as %v, must be as %v", now, want)
		}
		return d.countsAgree(ctx, now, names)
	})
	return now, err
}

// countsAgree checks that the status of the Schedulers says what the Clusters say.
func (d *demo) countsAgree(ctx context.Context, homes map[string]string, names []string) error {
	count := map[string]int{}
	for _, h := range homes {
		count[h]++
	}
	for _, name := range names {
		s, err := d.berth.BerthV1alpha1().Schedulers().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading Scheduler %s: %w", name, err)
		}
		if int(s.Status.ClusterCount) != count[name] {
			return fmt.Errorf("scheduler %s says that it has %d clusters, must be %d", name, s.Status.ClusterCount, count[name])
		}
	}
	return nil
}

// printHomes shows what kubectl get bsched and berthctl get bindings show.
func (d *demo) printHomes(ctx context.Context) error {
	list, err := d.berth.BerthV1alpha1().Schedulers().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Schedulers: %w", err)
	}
	table := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\n   SCHEDULER\tREADY\tCLUSTERS\tREGIONS\tCPU")
	for i := range list.Items {
		s := &list.Items[i]
		fmt.Fprintf(table, "   %s\t%t\t%d\t%s\t%d\n", s.Name,
			apimeta.IsStatusConditionTrue(s.Status.Conditions, berthv1alpha1.SchedulerReady), s.Status.ClusterCount,
			s.Status.Columns.Regions, s.Status.CPUCapacity.Total)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return d.berthctl(ctx, "get", "bindings")
}

// berthctl runs the command and shows what it says.
func (d *demo) berthctl(ctx context.Context, args ...string) error {
	d.printf("\n   $ berthctl %s", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, filepath.Join(d.world.BinDir(), "berthctl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+d.world.AdminKubeconfig())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("berthctl %s: %w: %s", strings.Join(args, " "), err, out.String())
	}
	d.printf("%s\n", strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n   "))
	return nil
}

// awaitStopped waits until a Scheduler that was deleted is gone, and the pods that ran it with it.
func (d *demo) awaitStopped(ctx context.Context, name string) error {
	return d.await(ctx, func(ctx context.Context) error {
		_, err := d.berth.BerthV1alpha1().Schedulers().Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("scheduler %s is still there", name)
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("reading Scheduler %s: %w", name, err)
		}
		pods, err := d.client.CoreV1().Pods(localplane.BerthNamespace).List(ctx,
			metav1.ListOptions{LabelSelector: "berth.dev/scheduler=" + name})
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		if len(pods.Items) > 0 {
			return fmt.Errorf("pod %s still runs", pods.Items[0].Name)
		}
		return nil
	})
}
