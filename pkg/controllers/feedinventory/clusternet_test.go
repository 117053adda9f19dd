// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// What is known to go wrong in Clusternet's controller, and what shows that it does not here:
//
//   - One bad feed blocks the inventory: TestFeedsInTrouble, TestARefusedEntryHoldsUpNoOther.
//   - A HelmChart feed blocks the inventory: TestAKindThatNothingReads.
//   - A feed that is created late is seen only after a back-off: TestInventory.
//   - The deletion of a feed is ignored: TestKindsComeAndGo.
//   - The inventory stays after a change of the strategy:
//     TestInventoryMeansNothingToOtherStrategies.
//   - A Subscription with a long name gets none, because labels hold its name: there are no such
//     labels, and the integration suite has a Subscription with a name of 253 characters.
//   - A feed without a namespace matches an object of any namespace:
//     TestAFeedIsOfTheNamespaceOfItsSubscription.
//   - Edits by hand stay: TestEditsAreReverted.
//   - A feed that has lost its number of replicas keeps the old one: TestANumberThatIsGone.
//
// How replicas are divided is checked in package divide. What goes wrong in Clusternet's predictor
// and its agent (responses that are not checked, a client for each call, nil maps) cannot happen
// here: capacity is counted in the scheduler's snapshot.

func TestAKindThatNothingReads(t *testing.T) {
	w := newWorld(t)
	w.deploy("web", 3)
	w.put("services", "{apiVersion: v1, kind: Service, metadata: {name: web}}")
	w.subscribe(listing(
		berthv1alpha1.Feed{APIVersion: "apps.clusternet.io/v1alpha1", Kind: "HelmChart", Name: "chart"},
		berthv1alpha1.Feed{APIVersion: "v1", Kind: "Service", Name: "web"}, deployment("web")))
	w.until("chart - False KindNotServed", "web - True CopiedWhole", "web 3 True Parsed")
}

func TestAFeedIsOfTheNamespaceOfItsSubscription(t *testing.T) {
	w := newWorld(t)
	w.metadata.PrependReactor("list", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &metav1.List{Items: []runtime.RawExtension{{Object: &metav1.PartialObjectMetadata{
			ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "web", ResourceVersion: "1", UID: "1"},
		}}}}, nil
	})
	w.subscribe(listing(deployment("web")))
	w.until("web - False NotFound")
	if got := w.reads.Load(); got != 0 {
		t.Errorf("%d objects of other namespaces were fetched", got)
	}
}

func TestANumberThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.deploy("web", 3)
	w.subscribe(listing(deployment("web")))
	w.until("web 3 True Parsed")
	w.put("deployments", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: []}}}}")
	w.until("web 1 True Parsed")
}

// A kind whose definition is deleted makes its list fail; it comes back when the definition does.
func TestAKindThatIsServedNoMore(t *testing.T) {
	w := newWorld(t)
	gone := true
	w.metadata.PrependReactor("list", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return gone, nil, apierrors.NewNotFound(action.GetResource().GroupResource(), "")
	})
	w.put("services", "{apiVersion: v1, kind: Service, metadata: {name: web}}")
	w.deploy("web", 3)
	w.subscribe(listing(berthv1alpha1.Feed{APIVersion: "v1", Kind: "Service", Name: "web"}, deployment("web")))
	w.until("web - False KindNotServed", "web 3 True Parsed")
	gone = false
	w.rules()
	w.until("web - True CopiedWhole", "web 3 True Parsed")
}
