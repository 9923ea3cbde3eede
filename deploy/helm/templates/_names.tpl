{{/* The beginning of every object's name. The longest end is "-collector-headless". */}}
{{- define "lodestone.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $release := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $release .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* The name of a process's objects. Takes root and process, and copy for one that works for a further copy of the events. */}}
{{- define "lodestone.name" -}}
{{ include "lodestone.fullname" .root }}-{{ .process }}{{ with .copy }}-copy-{{ int .number }}{{ end }}
{{- end }}

{{/* Labels by which the pods of a release are selected. */}}
{{- define "lodestone.release" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* What the pods of a process are: a copy's consumers are apart from the others. Takes what lodestone.name does. */}}
{{- define "lodestone.component" -}}
{{ .process }}{{ if and .copy (eq .process "consumer") }}-copy-{{ int .copy.number }}{{ end }}
{{- end }}

{{/* Labels by which the pods of a process are selected. They never change. Takes what lodestone.name does. */}}
{{- define "lodestone.selector" -}}
{{ include "lodestone.release" .root }}
app.kubernetes.io/component: {{ include "lodestone.component" . }}
{{- end }}

{{/* Labels of a process's objects. Takes what lodestone.name does. */}}
{{- define "lodestone.labels" -}}
{{ include "lodestone.selector" . }}
app.kubernetes.io/part-of: lodestone
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ include "lodestone.tag" . | trunc 63 | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The image's tag of a process. Takes root and process. */}}
{{- define "lodestone.tag" -}}
{{- $own := index .root.Values (eq .process "spool-send" | ternary "collector" .process) -}}
{{- $own.imageTag | default .root.Values.image.tag | default .root.Chart.AppVersion -}}
{{- end }}

{{/* The image of a process. A process with a tag of its own does not have the digest of the others. Takes root and process. */}}
{{- define "lodestone.image" -}}
{{- $own := index .root.Values (eq .process "spool-send" | ternary "collector" .process) -}}
{{- if and .root.Values.image.digest (not $own.imageTag) -}}
{{ .root.Values.image.repository }}@{{ .root.Values.image.digest }}
{{- else -}}
{{ .root.Values.image.repository }}:{{ include "lodestone.tag" . }}
{{- end -}}
{{- end }}

{{/* The scheme of probes, after their port. */}}
{{- define "lodestone.probeScheme" -}}
{{- if .Values.tls.secret }}, scheme: HTTPS{{ end -}}
{{- end }}

{{/* What marks an object as one that exists before the release's own. Takes the weight. The Job, of weight 0, stays for its log. */}}
{{- define "lodestone.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation{{ if ne . "0" }},hook-succeeded{{ end }}
{{- end }}
