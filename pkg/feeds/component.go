// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"errors"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/validation"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// maxElements bounds the parts in a list of an object.
const maxElements = 256

// component is a part of an object that has a name, or a list of parts with names of their own.
type component struct {
	name string
	// inList reports whether listAt and nameAt mean anything: where the list is, and from an element
	// on its name.
	inList         bool
	listAt, nameAt manifest.Pointer
	part
}

// instance is a component as an object has it.
type instance struct {
	*component
	// name is that of the part, index its place in the list.
	name  string
	index int
	// within is the object or, for parts in a list, the element, and place the pointer to that.
	within manifest.Object
	place  string
}

// newComponent checks what a rule says of a part. The place is where in the rule it stands.
func newComponent(place string, from *berthv1alpha1.ComponentRule) (component, error) {
	c := component{name: from.Name}
	var err error
	if c.part, err = newPart(place, from.Replicas, &from.PodTemplate); err != nil || from.List == nil {
		return c, err
	}
	c.inList = true
	if c.listAt, err = manifest.ParsePointer(from.List.Path); err != nil {
		return c, fmt.Errorf("%s.list.path: %w", place, err)
	}
	if c.nameAt, err = manifest.ParsePointer(from.List.Name); err != nil {
		return c, fmt.Errorf("%s.list.name: %w", place, err)
	}
	return c, nil
}

// instances returns the parts that an object has.
func (r *rule) instances(object manifest.Object) ([]instance, error) {
	var found []instance
	for i := range r.components {
		c := &r.components[i]
		if !c.inList {
			if !c.absent(object) {
				found = append(found, instance{component: c, name: c.name, within: object})
			}
			continue
		}
		elements, err := c.elements(object)
		if err != nil {
			return nil, r.wrong(c.name, "list", err)
		}
		found = append(found, elements...)
	}
	return found, nil
}

// elements returns the parts in the list of an object.
func (c *component) elements(object manifest.Object) ([]instance, error) {
	value, err := c.listAt.In(object)
	if errors.Is(err, manifest.ErrNowhere) || err == nil && value == nil {
		return nil, nil
	}
	list, ok := value.([]any)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("%s: must be a list", c.listAt)
	case len(list) > maxElements:
		return nil, fmt.Errorf("%s: must have at most %d elements, not %d", c.listAt, maxElements, len(list))
	}
	found := make([]instance, 0, len(list))
	for i, value := range list {
		place := fmt.Sprintf("%s/%d", c.listAt, i)
		element, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: must be a map", place)
		}
		named, err := c.nameAt.In(element)
		name, ok := named.(string)
		if err != nil || !ok || name == "" {
			return nil, fmt.Errorf("%s%s: must be a name", place, c.nameAt)
		}
		found = append(found, instance{component: c, name: name, index: i, within: element, place: place})
	}
	return found, nil
}

// absent reports whether an object lacks the template of a component that has a path.
func (c *component) absent(object manifest.Object) bool {
	if c.template != nil {
		return false
	}
	value, err := c.templateAt.In(object)
	return errors.Is(err, manifest.ErrNowhere) || err == nil && value == nil
}

// Components reads the parts of the object, without those whose template it does not have. A part
// in a list whose name is no DNS label gets the name of the rule's component and its place.
func (r *rule) Components(rawData []byte) ([]berthv1alpha1.FeedComponent, error) {
	if len(r.components) == 0 {
		return nil, nil
	}
	object, err := manifest.Decode(rawData)
	if err != nil {
		return nil, err
	}
	parts, err := r.instances(object)
	if err != nil {
		return nil, err
	}
	if len(parts) > maxComponents {
		return nil, fmt.Errorf("FeedParser %q: spec.components: the object has %d parts, and at most %d are read",
			r.name, len(parts), maxComponents)
	}
	var list []berthv1alpha1.FeedComponent
	seen := map[string]bool{}
	for i := range parts {
		part := &parts[i]
		read := berthv1alpha1.FeedComponent{Name: part.label(seen)}
		if part.hasReplicas {
			read.ReplicaJSONPath = part.place + part.replicasAt.String()
		}
		if read.DesiredReplicas, err = part.readReplicas(part.within); err != nil {
			return nil, r.wrong(part.name, "replicas", err)
		}
		if read.ReplicaRequirements, err = part.readTemplate(part.within); err != nil {
			return nil, r.wrong(part.name, "podTemplate", err)
		}
		list = append(list, read)
	}
	return list, nil
}

// label returns a name for a part that no other part of the object has.
func (p *instance) label(seen map[string]bool) string {
	name := p.name
	if p.inList && (seen[name] || len(validation.IsDNS1123Label(name)) > 0) {
		name = fmt.Sprintf("%s-%d", p.component.name, p.index)
	}
	seen[name] = true
	return name
}

// wrong says what is wrong with a part of an object.
func (r *rule) wrong(component, field string, err error) error {
	return fmt.Errorf("FeedParser %q: spec.components %.64q: %s: %w", r.name, component, field, err)
}

// errTooMany says that parts of one name want more than a number of replicas can be.
var errTooMany = errors.New("parts of one name want more replicas than can be counted")

// wants returns how many replicas each part of an object wants, by its name. A part that does not
// say wants one.
func (r *rule) wants(object manifest.Object) (map[string]int32, error) {
	parts, err := r.instances(object)
	if err != nil {
		return nil, err
	}
	wants := make(map[string]int32, len(parts))
	for i := range parts {
		replicas, err := parts[i].readReplicas(parts[i].within)
		if err != nil {
			return nil, r.wrong(parts[i].name, "replicas", err)
		}
		if replicas == nil {
			replicas = new(int32(1))
		}
		// Parts of a list can have one name.
		if *replicas > math.MaxInt32-wants[parts[i].name] {
			return nil, r.wrong(parts[i].name, "replicas", errTooMany)
		}
		wants[parts[i].name] += *replicas
	}
	return wants, nil
}
