{{/* The secrets that each process reads. */}}
{{- define "lodestone.secretsOf" -}}
collector: [postgres-url, token-keys, trace-headers, kafka-sasl-password]
spool-send: [postgres-url, kafka-sasl-password]
consumer: [postgres-url, clickhouse-url, trace-headers, kafka-sasl-password]
migrate: [postgres-url, clickhouse-url, kafka-sasl-password]
backup: [postgres-url, clickhouse-url, s3-access-key, s3-secret-key, kafka-sasl-password]
query: [postgres-url, clickhouse-url, clickhouse-http-url, sql-url, trace-headers]
crud: [postgres-url, token-keys, smtp-url, openid-client-secret, trace-headers, s3-access-key, s3-secret-key]
{{- end }}

{{/* The settings of a process as environment variables. Takes root and process, and copy for one that works for a further copy of the events. */}}
{{- define "lodestone.env" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $name := include "lodestone.fullname" .root -}}
{{- $env := dict "LODESTONE_LOG_LEVEL" $values.log.level "LODESTONE_LOG_FORMAT" $values.log.format -}}
{{- /* Besides the authorities of the image, which are in a file and no directory that this replaces. */ -}}
{{- $authorities := $values.authorities | empty | ternary list (list "/run/secrets/lodestone-authorities") -}}
{{- if has .process (list "collector" "consumer" "query" "crud") -}}
  {{- $_ := set $env "LODESTONE_ADMIN_LISTEN" ":8090" -}}
  {{- /* The files are read again when cert-manager renews them. */ -}}
  {{- if $values.tls.secret -}}
    {{- $listeners := dict "consumer" (list "ADMIN_") "collector" (list "ADMIN_" "COLLECTOR_") "query" (list "ADMIN_" "") "crud" (list "ADMIN_" "") -}}
    {{- range index $listeners .process -}}
      {{- $_ := set $env (printf "LODESTONE_%sTLS_CERT" .) "/run/secrets/lodestone-tls/tls.crt" -}}
      {{- $_ := set $env (printf "LODESTONE_%sTLS_KEY" .) "/run/secrets/lodestone-tls/tls.key" -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if has .process (list "collector" "consumer" "migrate" "spool-send" "backup") -}}
  {{- $_ := set $env "LODESTONE_KAFKA_BROKERS" (join "," $values.kafka.brokers) -}}
  {{- $_ := set $env "LODESTONE_KAFKA_SASL_MECHANISM" $values.kafka.saslMechanism -}}
  {{- if $values.kafka.tls }}{{ $_ := set $env "LODESTONE_KAFKA_TLS" "true" }}{{ end -}}
  {{- if $values.kafka.acceptFewerCopies }}{{ $_ := set $env "LODESTONE_KAFKA_ACCEPT_FEWER_COPIES" "true" }}{{ end -}}
  {{- with $values.kafka.saslUser }}{{ $_ := set $env "LODESTONE_KAFKA_SASL_USER" . }}{{ end -}}
{{- end -}}
{{- if has .process (list "consumer" "query" "migrate" "backup") -}}
  {{- $copy := .copy | default (dict "number" $values.clickhouse.copy "servers" $values.clickhouse.shards) -}}
  {{- with $copy.servers }}{{ $_ := set $env "LODESTONE_CLICKHOUSE_SHARDS" (join ";" .) }}{{ end -}}
  {{- if ne (int $copy.number) 1 }}{{ $_ := set $env "LODESTONE_CLICKHOUSE_COPY" (int $copy.number) }}{{ end -}}
{{- end -}}
{{- if eq .process "query" -}}
  {{- $others := list -}}
  {{- range $values.clickhouse.copies -}}
    {{- if dig "read" true . }}{{ $others = append $others (printf "%d=%s" (int .number) (join ";" .servers)) }}{{ end -}}
  {{- end -}}
  {{- with $others }}{{ $_ := set $env "LODESTONE_CLICKHOUSE_OTHER_COPIES" (join "," .) }}{{ end -}}
{{- end -}}
{{- if has .process (list "collector" "query" "crud") -}}
  {{- $_ := set $env "LODESTONE_DRAIN_DELAY" (printf "%ds" (int64 (index $values .process).drainSeconds)) -}}
{{- end -}}
{{- if eq .process "collector" -}}
  {{- $_ := set $env "LODESTONE_COLLECTOR_LISTEN" ":8081" -}}
  {{- $_ := set $env "LODESTONE_COLLECTOR_URL" $values.collectorUrl -}}
  {{- $_ := set $env "LODESTONE_SPOOL_DIR" "/var/lib/lodestone/spool" -}}
  {{- $_ := set $env "LODESTONE_SPOOL_MAX_BYTES" (int64 $values.collector.spool.maxBytes) -}}
  {{- $_ := set $env "LODESTONE_SPOOL_SEND_TIMEOUT" (printf "%ds" (int64 $values.collector.spool.sendSeconds)) -}}
  {{- with $values.trustedProxies }}{{ $_ := set $env "LODESTONE_COLLECTOR_TRUSTED_PROXIES" (join "," .) }}{{ end -}}
{{- end -}}
{{- if has .process (list "query" "crud") -}}
  {{- $_ := set $env "LODESTONE_LISTEN" ":8080" -}}
{{- end -}}
{{- if eq .process "crud" -}}
  {{- $scheme := "http" -}}
  {{- if $values.tls.secret -}}
    {{- $scheme = "https" -}}
    {{- $authorities = append $authorities "/run/secrets/lodestone-tls" -}}
  {{- end -}}
  {{- $_ := set $env "LODESTONE_PUBLIC_URL" $values.url -}}
  {{- $_ := set $env "LODESTONE_COLLECTOR_URL" $values.collectorUrl -}}
  {{- $_ := set $env "LODESTONE_COLLECTOR_INTERNAL_URL" (printf "%s://%s-collector:8081" $scheme $name) -}}
  {{- $_ := set $env "LODESTONE_QUERY_URL" (printf "%s://%s-query:8080" $scheme $name) -}}
  {{- with $values.trustedProxies }}{{ $_ := set $env "LODESTONE_TRUSTED_PROXIES" (join "," .) }}{{ end -}}
{{- end -}}
{{- range index (include "lodestone.secretsOf" . | fromYaml) .process -}}
  {{- if (index $values.secrets .).name -}}
    {{- $_ := set $env (printf "LODESTONE_%s_FILE" (. | upper | replace "-" "_")) (printf "/run/secrets/lodestone/%s" .) -}}
  {{- end -}}
{{- end -}}
{{- if eq .process "backup" -}}
  {{- /* Where crud keeps documents, so that they are in the backup. */ -}}
  {{- range $setting, $value := $values.crud.settings -}}
    {{- if has $setting (list "file-store" "s3-endpoint" "s3-region") }}{{ $_ := set $env (printf "LODESTONE_%s" ($setting | upper | replace "-" "_")) $value }}{{ end -}}
  {{- end -}}
{{- end -}}
{{- if hasKey $values .process -}}
  {{- range $setting, $value := (index $values .process).settings -}}
    {{- /* Helm reads every number as one with a fraction, and prints 1048576 as 1.048576e+06. */ -}}
    {{- if and (kindIs "float64" $value) (eq $value (floor $value)) }}{{ $value = printf "%.0f" $value }}{{ end -}}
    {{- $_ := set $env (printf "LODESTONE_%s" ($setting | upper | replace "-" "_")) $value -}}
  {{- end -}}
{{- end -}}
{{- with $authorities }}{{ $_ := set $env "SSL_CERT_DIR" (join ":" .) }}{{ end -}}
{{- range $variable, $value := $env }}
- name: {{ $variable }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}
