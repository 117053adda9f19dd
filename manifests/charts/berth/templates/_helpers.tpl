{{/* The schedulerName that pods of Berth have. */}}
{{- define "berth.schedulerName" -}}
{{- if eq .Values.mode "Instead" }}default-scheduler{{ else }}berth-scheduler{{ end }}
{{- end }}

{{/* The minor of Kubernetes that the programs with a scheduler in them are compiled with. Empty for 1.35, which images are of without saying so. */}}
{{- define "berth.minor" -}}
{{- $minor := toString (default "" .Values.image.kubernetes) -}}
{{- if and (not $minor) (semverCompare ">=1.37.0-0" .Capabilities.KubeVersion.Version) }}{{ $minor = "1.37" }}{{ end -}}
{{- if ne $minor "1.35" }}{{ $minor }}{{ end -}}
{{- end }}

{{/* The image of a component: (dict "root" $ "component" .Values.X), and "compiled" true if there is one for each minor of Kubernetes. */}}
{{- define "berth.image" -}}
{{- $image := .component.image -}}
{{- $tag := coalesce $image.tag .root.Values.image.tag .root.Chart.AppVersion -}}
{{- $digest := $image.digest -}}
{{- $minor := include "berth.minor" .root -}}
{{- if and .compiled $minor (not $image.tag) -}}
{{- $tag = printf "%s-kubernetes-%s" $tag $minor -}}
{{- $digest = get (default dict $image.digests) $minor -}}
{{- if and $image.digest (not $digest) -}}
{{- fail (printf "there is no digest of %s compiled with Kubernetes %s: add it to image.digests of the component, or set image.kubernetes to another minor" $image.repository $minor) -}}
{{- end -}}
{{- end -}}
{{- with .root.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image.repository }}:{{ $tag }}{{ with $digest }}@{{ . }}{{ end }}
{{- end }}

{{/* What the pods of all components have in common: (dict "root" $ "component" .Values.X "labels" LABELS). */}}
{{- define "berth.pod" -}}
{{- with .component.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- if .component.spread }}
topologySpreadConstraints:
{{- $labels := .labels }}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- topologyKey: {{ . }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- toYaml $labels | nindent 6 }}
{{- end }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- with .component.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .component.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with .component.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What the containers of all components have in common: (dict "root" $ "component" .Values.X), and what their images need. */}}
{{- define "berth.container" -}}
image: {{ include "berth.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
resources:
  {{- toYaml .component.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* A probe over HTTPS: (dict "path" PATH "kind" KIND). */}}
{{- define "berth.probes" -}}
# The API server and the informers must answer first, which takes as long as the cluster is large.
startupProbe:
  httpGet:
    {{- toYaml .alive | nindent 4 }}
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet:
    {{- toYaml .alive | nindent 4 }}
  timeoutSeconds: 5
readinessProbe:
  httpGet:
    {{- toYaml .ready | nindent 4 }}
  timeoutSeconds: 5
{{- end }}

{{/* The budget of a component, if it has one: (dict "name" NAME "component" .Values.X "labels" LABELS). */}}
{{- define "berth.budget" -}}
{{- with .component.podDisruptionBudget }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $.name }}
  namespace: berth-system
  labels:
    app.kubernetes.io/part-of: berth
spec:
  {{- toYaml (hasKey . "maxUnavailable" | ternary (omit . "minAvailable") .) | nindent 2 }}
  # A pod that is not ready protects nothing; a drain must not wait for it.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- toYaml $.labels | nindent 6 }}
{{- end }}
{{- end }}

{{/* The environment of a component that holds what informers know; its extraEnv is the argument. */}}
{{- define "berth.env" -}}
{{- $named := dict }}
{{- range . }}
{{- $named = set $named .name true }}
{{- end }}
{{- if not (hasKey $named "GOGC") }}
# Garbage is collected half as often as by default, which takes less processor time: the heap may grow to three times what is in use
# instead of twice.
- name: GOGC
  value: "200"
{{- end }}
{{- if not (hasKey $named "GOMEMLIMIT") }}
# Near the limit of the container's memory it collects garbage more often, so that it is not killed for what is none.
- name: GOMEMLIMIT
  valueFrom:
    resourceFieldRef:
      resource: limits.memory
{{- end }}
{{- with . }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The Service of a component: (dict "name" NAME "labels" LABELS "port" PORT). */}}
{{- define "berth.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  namespace: berth-system
  labels:
    app.kubernetes.io/part-of: berth
    {{- toYaml .labels | nindent 4 }}
spec:
  selector:
    {{- toYaml .labels | nindent 4 }}
  ports:
  - name: https
    port: {{ .port }}
    targetPort: https
{{- end }}

{{/* The configuration of the scheduler. */}}
{{- define "berth.schedulerConfig" -}}
{{- if .Values.scheduler.config -}}
{{ .Values.scheduler.config }}
{{- else if or (eq .Values.mode "Instead") (eq .Values.scheduler.profile "AddsOnly") -}}
{{ .Files.Get "files/adds-only.yaml" | replace "schedulerName: berth-scheduler" (printf "schedulerName: %s" (include "berth.schedulerName" .)) }}
{{- else -}}
{{ .Files.Get "files/scheduler-config.yaml" }}
{{- end -}}
{{- end }}
