// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/constraint"
)

const (
	// maxResources is how many custom resources an Application can ask for.
	maxResources = 20

	minReschedule, maxReschedule = time.Second, 24 * time.Hour
)

// settings are the flags that say what an Application is.
type settings struct {
	file            values.File
	labels          objects.Labels
	clusterLabels   *values.Constraints
	clusterMetrics  *values.Constraints
	resources       *values.CustomResources
	migrate, stay   bool
	rescheduleAfter time.Duration
}

func (s *settings) addTo(cmd *cobra.Command) {
	s.clusterLabels = values.NewConstraints(constraint.Label)
	s.clusterMetrics = values.NewConstraints(constraint.Metric)
	s.resources = values.NewCustomResources(maxResources)
	flags := cmd.Flags()
	s.file.AddTo(cmd, "file with the objects of the application")
	flags.VarP(s.clusterLabels, "cluster-label-constraint", "L",
		"what a label of the cluster must be, for instance 'location is DE'; can be repeated")
	flags.VarP(s.clusterMetrics, "cluster-metric-constraint", "M",
		"what a metric of the cluster must be, for instance 'load < 5'; can be repeated")
	flags.VarP(s.resources, "cluster-resource-constraint", "R", "custom resource that the cluster must offer; can be repeated")
	s.labels.AddTo(flags)
	flags.BoolVar(&s.migrate, "enable-migration", false, "let the application move to a better cluster, which is the default")
	flags.BoolVar(&s.stay, "disable-migration", false, "leave the application in the cluster that was chosen first")
	flags.DurationVar(&s.rescheduleAfter, "reschedule-after", 0,
		"how long a decision stands before it is reviewed, from 1s to 24h (default that of the controller manager)")
	cmd.MarkFlagsMutuallyExclusive("enable-migration", "disable-migration")
}

// wish is what the flags ask for, read and checked.
type wish struct {
	*settings
	labels    map[string]string
	manifests []berthv1alpha1.Manifest
}

// read reads and checks the flags. Nothing was sent until then.
func (s *settings) read(in io.Reader, namespace string) (*wish, error) {
	if d := s.rescheduleAfter; d != 0 && (d < minReschedule || d > maxReschedule) {
		return nil, errors.New("--reschedule-after: must be from 1s to 24h")
	}
	w := &wish{settings: s}
	var err error
	if w.labels, err = s.labels.Read(); err != nil {
		return nil, err
	}
	if s.file.Given() {
		w.manifests, err = values.ReadFile(&s.file, in, func(raw []byte) ([]berthv1alpha1.Manifest, error) {
			return parseManifests(raw, namespace)
		})
	}
	return w, err
}

// apply writes what the flags ask for into an Application. Constraints and labels are added to
// those that it has.
func (w *wish) apply(app *berthv1alpha1.Application) error {
	if len(w.manifests) > 0 {
		app.Spec.Manifests = w.manifests
	}
	for key, value := range w.labels {
		metav1.SetMetaDataLabel(&app.ObjectMeta, key, value)
	}
	constraints := &app.Spec.Constraints
	constraints.ClusterLabels = join(constraints.ClusterLabels, w.clusterLabels.Values())
	constraints.ClusterMetrics = join(constraints.ClusterMetrics, w.clusterMetrics.Values())
	constraints.CustomResources = join(constraints.CustomResources, w.resources.Values())
	switch {
	case w.stay:
		app.Spec.Migration = berthv1alpha1.MigrationNever
	case w.migrate:
		app.Spec.Migration = berthv1alpha1.MigrationStartFirst
	}
	if w.rescheduleAfter != 0 {
		app.Spec.RescheduleAfter = &metav1.Duration{Duration: w.rescheduleAfter}
	}
	if len(app.Spec.Manifests) == 0 {
		return fmt.Errorf("application %q would have no objects: %w", app.Name, objects.ErrMissing("filename"))
	}
	return nil
}

// join returns a list with more added, each once.
func join[S ~[]string](list S, more []string) S {
	seen := map[string]bool{}
	for _, text := range list {
		seen[text] = true
	}
	for _, text := range more {
		if !seen[text] {
			seen[text] = true
			list = append(list, text)
		}
	}
	return list
}
