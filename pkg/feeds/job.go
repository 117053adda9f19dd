// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
	"berth.dev/berth/pkg/model/workload"
)

// job reads Jobs, and CronJobs by the Job that they make. A Job wants as many pods as may run at
// once, not more than are left to complete, and none while it is suspended. Whether a CronJob is
// suspended does not matter: what counts is the size of a run. Where replicas are divided,
// parallelism is what is divided.
type job struct {
	kind string
	spec manifest.Pointer
}

var _ PluginFactory = job{}

// Name returns the kind.
func (j job) Name() string { return j.kind }

// Kind returns the kind.
func (j job) Kind() string { return j.kind }

// Parser reads parallelism, completions and the template of the Job, and how far it has come.
func (j job) Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	object, err := manifest.Decode(rawData)
	if err != nil {
		return nothing(err)
	}
	replicas, err := j.replicas(object)
	if err != nil {
		return nothing(err)
	}
	requirements, err := templateAt(object, j.field("template"))
	if err != nil {
		return nothing(err)
	}
	return &replicas, requirements, j.field("parallelism").String(), nil
}

func (j job) field(name string) manifest.Pointer {
	return manifest.MustPointer(j.spec.String() + "/" + name)
}

func (j job) replicas(object manifest.Object) (int32, error) {
	var wanted batchv1.Job
	var err error
	if wanted.Spec.Parallelism, err = countAt(object, j.field("parallelism")); err != nil {
		return 0, err
	}
	if wanted.Spec.Completions, err = countAt(object, j.field("completions")); err != nil {
		return 0, err
	}
	if wanted.Spec.Suspend, err = j.suspended(object); err != nil {
		return 0, err
	}
	if err := readProgress(object, &wanted.Status); err != nil {
		return 0, fmt.Errorf("/status: %w", err)
	}
	replicas, _ := workload.ReplicasOf(&wanted)
	return replicas, nil
}

func (j job) suspended(object manifest.Object) (*bool, error) {
	at := j.field("suspend")
	value, err := at.In(object)
	if err != nil || value == nil {
		return nil, err
	}
	suspended, ok := value.(bool)
	if !ok {
		return nil, fmt.Errorf("%s: must be true or false", at)
	}
	return &suspended, nil
}

// readProgress reads what has become of a Job. A CronJob has nothing of it.
func readProgress(object manifest.Object, status *batchv1.JobStatus) error {
	var progress struct {
		Succeeded  int32                  `json:"succeeded"`
		Conditions []batchv1.JobCondition `json:"conditions"`
	}
	if err := manifest.Into(object["status"], &progress); err != nil {
		return err
	}
	status.Succeeded, status.Conditions = max(0, progress.Succeeded), progress.Conditions
	return nil
}
