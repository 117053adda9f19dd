// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/output"
)

var columns = []output.Column{{Name: "Type"}, {Name: "Metrics"}, {Name: "Labels"}, {Name: "URL", Wide: true}}

var clouds = kinds.Kind[*berthv1alpha1.Cloud, *berthv1alpha1.CloudList]{
	Name: "cloud", Title: "Cloud", Columns: columns,
	API: func(clients client.Clients, namespace string) kinds.API[*berthv1alpha1.Cloud, *berthv1alpha1.CloudList] {
		return clients.Berth.BerthV1alpha1().Clouds(namespace)
	},
	Row: func(c *berthv1alpha1.Cloud) []any { return row(&c.Spec, &c.Status, c.Labels) },
}

var globalClouds = kinds.Kind[*berthv1alpha1.GlobalCloud, *berthv1alpha1.GlobalCloudList]{
	Name: "globalcloud", Title: "GlobalCloud", Columns: columns, Global: true,
	API: func(clients client.Clients, _ string) kinds.API[*berthv1alpha1.GlobalCloud, *berthv1alpha1.GlobalCloudList] {
		return clients.Berth.BerthV1alpha1().GlobalClouds()
	},
	Row: func(c *berthv1alpha1.GlobalCloud) []any { return row(&c.Spec.CloudSpec, &c.Status, c.Labels) },
}

func row(spec *berthv1alpha1.CloudSpec, status *berthv1alpha1.CloudStatus, labels map[string]string) []any {
	return []any{clusters.OrNone(spec.Type), kinds.Samples(status.Metrics), kinds.Labels(labels), clusters.OrNone(spec.URL)}
}
