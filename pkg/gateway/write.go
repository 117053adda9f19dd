// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// attempts is how often a change is tried when others change the same cluster meanwhile.
const attempts = 8

func (g *Gateway) register(w http.ResponseWriter, r *request) error {
	if err := g.authorize(r, "create", ""); err != nil {
		return err
	}
	if _, err := parameters(r.Request); err != nil {
		return err
	}
	if err := checkPreconditions(r.Request, nil); err != nil {
		return err
	}
	data, err := readProfile(w, r.Request, g.config.Limits.BodyTimeout)
	if err != nil {
		return err
	}
	profile, err := registration.Decode(data)
	if err != nil {
		return refusal(err)
	}
	if profile.ID != "" {
		return problem(http.StatusBadRequest, CodeInvalidID, "a request to register must not have a cluster_id: Berth gives it")
	}
	if err := registration.CheckNewName(profile.Name); err != nil {
		return badRequest(CodeInvalidName, err)
	}
	cluster, err := g.clusters.Create(r.Context(), profile.Cluster(), metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil {
		return err
	}
	g.lookup.remember(cluster)
	warn(w, profile.Warnings())
	w.Header().Set("Location", pathPrefix+"/clusters/id/"+string(cluster.UID))
	return writeCluster(w, http.StatusCreated, cluster)
}

// reading reads what a request makes of a cluster.
type reading func(data []byte, current *registration.Profile) (*registration.Profile, error)

// update makes a cluster what the request says. What that is may depend on what the cluster is, so
// the request is read again if somebody else was faster.
func (g *Gateway) update(w http.ResponseWriter, r *request, verb string, read reading) error {
	cluster, err := g.find(r, verb)
	if err != nil {
		return err
	}
	if _, err := parameters(r.Request); err != nil {
		return err
	}
	if err := checkPreconditions(r.Request, cluster); err != nil {
		return err
	}
	data, err := readProfile(w, r.Request, g.config.Limits.BodyTimeout)
	if err != nil {
		return err
	}
	var warnings []string
	cluster, err = g.change(r, cluster, func(current *berthv1alpha1.Cluster) (*berthv1alpha1.Cluster, error) {
		known := registration.FromCluster(current)
		profile, err := read(data, &known)
		if err != nil {
			return nil, refusal(err)
		}
		warnings = profile.ChangeWarnings(current)
		profile.Apply(current)
		if equality.Semantic.DeepEqual(known, registration.FromCluster(current)) {
			return current, nil // it is what the request says, and stays so to the letter
		}
		return g.clusters.Update(r.Context(), current, metav1.UpdateOptions{FieldManager: fieldManager})
	})
	if err != nil {
		return err
	}
	warn(w, warnings)
	return writeCluster(w, http.StatusOK, cluster)
}

func (g *Gateway) unregister(w http.ResponseWriter, r *request) error {
	if err := g.permit(r, "delete"); err != nil {
		return err
	}
	done, err := g.unregisterKnown(r)
	if err == nil && !done {
		err = g.unregisterFound(r)
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
		return writeText(w, "deleted: "+r.route.key+"\n")
	}
	return writeJSON(w, http.StatusOK, map[string]string{"deleted": r.route.key})
}

// unregisterFound unregisters the cluster of the path.
func (g *Gateway) unregisterFound(r *request) error {
	cluster, err := g.fetch(r, "delete")
	if err != nil {
		return err
	}
	force, err := forced(r.Request)
	if err != nil {
		return err
	}
	_, err = g.change(r, cluster, func(current *berthv1alpha1.Cluster) (*berthv1alpha1.Cluster, error) {
		if err := checkPreconditions(r.Request, current); err != nil {
			return nil, err
		}
		if !force {
			if err := g.checkUnused(r.Context(), current); err != nil {
				return nil, err
			}
		}
		preconditions := &metav1.Preconditions{UID: &current.UID}
		if isConditional(r.Request) {
			preconditions.ResourceVersion = &current.ResourceVersion
		}
		return current, g.clusters.Delete(r.Context(), current.Name, metav1.DeleteOptions{Preconditions: preconditions})
	})
	return err
}

func forced(r *http.Request) (bool, error) {
	query, err := parameters(r, "force")
	if err != nil {
		return false, err
	}
	switch value := query.Get("force"); {
	case !query.Has("force") || value == "false":
		return false, nil
	case value == "true":
		return true, nil
	default:
		return false, problem(http.StatusBadRequest, CodeInvalidParameter, "force must be true or false")
	}
}

// change does something to a cluster, again if the cluster has changed since it was read. For a
// caller that names what it has seen it has to be that still.
func (g *Gateway) change(
	r *request, cluster *berthv1alpha1.Cluster, do func(*berthv1alpha1.Cluster) (*berthv1alpha1.Cluster, error),
) (*berthv1alpha1.Cluster, error) {
	for attempt := 1; ; attempt++ {
		changed, err := do(cluster)
		if !apierrors.IsConflict(err) {
			return changed, err
		}
		if attempt == attempts {
			return nil, err
		}
		if cluster, err = g.locate(r.Context(), r.route); err != nil {
			return nil, err
		}
		if err := checkPreconditions(r.Request, cluster); err != nil {
			return nil, err
		}
	}
}
