// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	toolscache "k8s.io/client-go/tools/cache"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/application"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/rights"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

// ApplicationOptions are the settings of Applications, and of what Subscriptions copy.
type ApplicationOptions struct {
	// Stickiness is that of Applications that set none.
	Stickiness rank.Stickiness
	// RescheduleAfter is how long a choice stands for Applications that do not say.
	RescheduleAfter time.Duration
	// SettleTimeout is how long the first choice for an Application waits for what is unknown.
	SettleTimeout time.Duration
	// DefaultServiceAccount is the ServiceAccount of the namespace that Berth writes as for
	// Applications and Subscriptions that name none.
	DefaultServiceAccount string
}

func defaultApplicationOptions() ApplicationOptions {
	return ApplicationOptions{
		Stickiness: rank.DefaultStickiness, RescheduleAfter: migrate.DefaultRescheduleAfter,
		SettleTimeout:         application.DefaultSettleTimeout,
		DefaultServiceAccount: rights.DefaultServiceAccount,
	}
}

func (o *ApplicationOptions) addTo(sets *cliflag.NamedFlagSets) {
	flags := sets.FlagSet("applications")
	flags.Float64Var(&o.Stickiness.Value, "stickiness-value", o.Stickiness.Value,
		"What the cluster where an Application runs counts in comparison with others, like the normalised value of a metric.")
	flags.Float64Var(&o.Stickiness.Weight, "stickiness-weight", o.Stickiness.Weight, "The weight of that.")
	flags.DurationVar(&o.RescheduleAfter, "reschedule-after", o.RescheduleAfter,
		"How long the choice of a cluster for an Application stands before it is reviewed.")
	flags.DurationVar(&o.SettleTimeout, "settle-timeout", o.SettleTimeout,
		"How long the first choice of a cluster for an Application waits until the clusters that come into question, and their "+
			"metrics, have been looked at.")
	flags.StringVar(&o.DefaultServiceAccount, "default-service-account", o.DefaultServiceAccount,
		"The ServiceAccount of their namespace that Applications, and the copies of Subscriptions, are written as "+
			"if they name none. Each namespace allows that with berthctl allow namespace.")
}

// maxStickiness is the largest stickiness that an Application can set.
const maxStickiness = 1_000_000

// validate returns what is wrong with the options.
func (o *ApplicationOptions) validate() error {
	var errs []error
	for name, number := range map[string]float64{"--stickiness-value": o.Stickiness.Value, "--stickiness-weight": o.Stickiness.Weight} {
		if !(number >= 0 && number <= maxStickiness) {
			errs = append(errs, errors.New(name+" must be from 0 to 1000000"))
		}
	}
	if o.RescheduleAfter < time.Second || o.RescheduleAfter > 24*time.Hour {
		errs = append(errs, errors.New("--reschedule-after must be from 1s to 24h"))
	}
	if o.SettleTimeout < 0 || o.SettleTimeout > time.Hour {
		errs = append(errs, errors.New("--settle-timeout must be from 0s to 1h"))
	}
	if wrong := validation.IsDNS1123Subdomain(o.DefaultServiceAccount); len(wrong) > 0 {
		errs = append(errs, errors.New("--default-service-account must be the name of a ServiceAccount: "+wrong[0]))
	}
	return utilerrors.NewAggregate(errs)
}

// applicationKinds are the kinds without which there are no Applications.
var applicationKinds = []string{"Application", "Cluster", "PropagationPolicy"}

// startApplications starts the controller of Applications as soon as its kinds are served. Nothing
// else waits for that.
func startApplications(
	mgr ctrl.Manager, opts *Options, fits *adviser.Adviser, moves *state.Moves, authors *accounts.Accounts,
) func(context.Context) error {
	return func(ctx context.Context) error {
		if !awaitKinds(ctx, mgr, applicationKinds...) {
			return nil
		}
		watching, err := watchingOf(mgr)
		if err != nil {
			return err
		}
		clusters, err := clustersOf(ctx, mgr)
		if err != nil {
			return err
		}
		controller := application.New(application.Options{
			Client: mgr.GetClient(), Clusters: clusters, Live: mgr.GetAPIReader(), Account: authors.Of, Mapper: mgr.GetRESTMapper(),
			Recorder: mgr.GetEventRecorder(leaseName), Clock: clock.RealClock{}, Schedulers: opts.SchedulerNames,
			Stickiness: opts.Applications.Stickiness, RescheduleAfter: opts.Applications.RescheduleAfter,
			Adviser: fits, Moves: moves, Watching: watching, SettleTimeout: opts.Applications.SettleTimeout,
		})
		if err := setUp(mgr, controller); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}

// clustersOf returns the Clusters as the cache of the manager has them. To list them by its client
// would copy all of them for each Application that is looked at.
func clustersOf(ctx context.Context, mgr ctrl.Manager) (func() []*berthv1alpha1.Cluster, error) {
	informer, err := mgr.GetCache().GetInformer(ctx, &berthv1alpha1.Cluster{})
	if err != nil {
		return nil, fmt.Errorf("watching clusters: %w", err)
	}
	stored, ok := informer.(interface{ GetStore() toolscache.Store })
	if !ok {
		return nil, fmt.Errorf("watching clusters: %T has no store", informer)
	}
	return func() []*berthv1alpha1.Cluster {
		objects := stored.GetStore().List()
		clusters := make([]*berthv1alpha1.Cluster, 0, len(objects))
		for _, object := range objects {
			if cluster, ok := object.(*berthv1alpha1.Cluster); ok {
				clusters = append(clusters, cluster)
			}
		}
		return clusters
	}, nil
}

// watchingOf lets the objects of Applications be watched, as far as the rights of the program go.
func watchingOf(mgr ctrl.Manager) (*application.Watching, error) {
	reader, err := metadata.NewForConfigAndClient(metadata.ConfigFor(mgr.GetConfig()), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("making a client for metadata: %w", err)
	}
	clientset, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	allowed := func(ctx context.Context, kind schema.GroupVersionResource) (bool, error) {
		for _, verb := range []string{"list", "watch"} {
			review, err := clientset.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: verb, Group: kind.Group, Version: kind.Version, Resource: kind.Resource,
				}},
			}, metav1.CreateOptions{})
			if err != nil || !review.Status.Allowed {
				return false, err
			}
		}
		return true, nil
	}
	return &application.Watching{Metadata: reader, Allowed: allowed}, nil
}
