{{/*
The pod of a process. Takes root, process and own (its values); further what some have: copy (an entry of clickhouse.copies), args, ports, drainSeconds, sendSeconds, volumes and mounts (lists), and
restartPolicy for one that ends.
The security context is no value: an installation cannot weaken it by mistake.
*/}}
{{- define "lodestone.pod" -}}
metadata:
  labels:
    {{- /* Without versions: a pod restarts if its own version changes. */}}
    {{- include "lodestone.selector" . | nindent 4 }}
    {{- with .own.pod.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .own.pod.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "lodestone.name" (dict "root" .root "process" .process) }}
  automountServiceAccountToken: false
  # Variables of Services are named as settings are: LODESTONE_QUERY_PORT and the like.
  enableServiceLinks: false
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  # The process serves for drainSeconds after SIGTERM, then ends in order within 25 s, and a collector sends its spool; five seconds are
  # left to the container's own end. Nothing waits before SIGTERM (preStop): clients with open connections would not be told to leave.
  terminationGracePeriodSeconds: {{ add (default 0 .drainSeconds) (default 0 .sendSeconds) 30 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: {{ .process }}
      image: {{ include "lodestone.image" . | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args:
        {{- toYaml (default (list .process) .args) | nindent 8 }}
      env:
        {{- include "lodestone.env" . | trim | nindent 8 }}
      {{- with .ports }}
      ports:
        {{- range $name, $port := . }}
        - name: {{ $name }}
          containerPort: {{ $port }}
        {{- end }}
      # The address of operators answers before the process has its stores.
      startupProbe:
        httpGet: {path: /healthz, port: admin{{ include "lodestone.probeScheme" $.root }}}
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /healthz, port: admin{{ include "lodestone.probeScheme" $.root }}}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # Its checks take three seconds at most.
      readinessProbe:
        httpGet: {path: /readyz, port: admin{{ include "lodestone.probeScheme" $.root }}}
        periodSeconds: 5
        timeoutSeconds: 4
        failureThreshold: 2
      {{- end }}
      resources:
        {{- toYaml .own.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: secrets
          mountPath: /run/secrets/lodestone
          readOnly: true
        {{- if and .root.Values.tls.secret .ports }}
        - name: tls
          mountPath: /run/secrets/lodestone-tls
          readOnly: true
        {{- end }}
        {{- if .root.Values.authorities }}
        - name: authorities
          mountPath: /run/secrets/lodestone-authorities
          readOnly: true
        {{- end }}
        {{- with concat (default list .mounts) .own.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- $secrets := .root.Values.secrets }}
          {{- with .copy }}{{ $secrets = merge (dict "clickhouse-url" .url) $secrets }}{{ end }}
          {{- range index (include "lodestone.secretsOf" . | fromYaml) .process }}
          {{- $setting := . }}
          {{- with index $secrets . }}
          {{- if .name }}
          - secret:
              name: {{ .name }}
              items:
                - key: {{ .key }}
                  path: {{ $setting }}
          {{- end }}
          {{- end }}
          {{- end }}
    {{- if and .root.Values.tls.secret .ports }}
    - name: tls
      secret:
        secretName: {{ .root.Values.tls.secret }}
        defaultMode: 0440
    {{- end }}
    {{- with .root.Values.authorities }}
    - name: authorities
      projected:
        defaultMode: 0440
        sources:
          {{- range $i, $secret := . }}
          - secret:
              name: {{ $secret.name }}
              items:
                - key: {{ $secret.key }}
                  path: {{ $i }}.crt
          {{- end }}
    {{- end }}
    {{- with concat (default list .volumes) .own.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if not .restartPolicy }}
  {{- $selector := include "lodestone.selector" . }}
  {{- with .root.Values.topologySpread }}
  topologySpreadConstraints:
    {{- range . }}
    - topologyKey: {{ .topologyKey }}
      maxSkew: {{ .maxSkew }}
      whenUnsatisfiable: {{ .whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- $selector | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- end }}
  {{- with .own.pod.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .own.pod.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .own.pod.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .own.pod.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
{{- end }}

{{/* The Deployment of a process. Takes root, process, own and fixed (whether the number of pods is a value), besides what its pod takes. */}}
{{- define "lodestone.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "lodestone.name" . }}
  labels:
    {{- include "lodestone.labels" . | nindent 4 }}
spec:
  {{- if .fixed }}
  replicas: {{ .own.replicas }}
  {{- end }}
  minReadySeconds: 5
  revisionHistoryLimit: 3
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels:
      {{- include "lodestone.selector" . | nindent 6 }}
  template:
    {{- include "lodestone.pod" . | nindent 4 }}
{{- end }}

{{/* The Service of a process. Takes root, process, own and port. */}}
{{- define "lodestone.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "lodestone.name" . }}
  labels:
    {{- include "lodestone.labels" . | nindent 4 }}
  {{- with dig "service" "annotations" dict .own }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ dig "service" "type" "ClusterIP" .own }}
  selector:
    {{- include "lodestone.selector" . | nindent 4 }}
  ports:
    - name: http
      port: {{ .port }}
      targetPort: http
{{- end }}
