{{/* Names and settings that several templates need. */}}

{{- define "weir.fullname" -}}
{{- if contains "weir" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-weir" (.Release.Name | trunc 35 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* The stages of the list and the guards, each with its principal, its arguments and its values. */}}
{{- define "weir.processes" -}}
{{- $all := dict -}}
{{- range $stage, $listed := .Files.Get "files/stages.yaml" | fromYaml -}}
{{- $values := mergeOverwrite (deepCopy $.Values.stageDefaults) (deepCopy (get $.Values.stages $stage | default dict)) -}}
{{- $args := list "up" "--stages" $stage -}}
{{- $_ := set $all $stage (merge (dict "principal" $stage "args" $args "values" $values) $listed) -}}
{{- end -}}
{{- range $name, $own := .Values.guards -}}
{{- $values := mergeOverwrite (deepCopy $.Values.stageDefaults) (deepCopy $own) -}}
{{- $args := list "guard" "run" $own.guard -}}
{{- if $own.options -}}
{{- $args = concat $args (list "--options" "/options/options.json") -}}
{{- end -}}
{{- $guard := dict "principal" (printf "guard.%s" $name) "args" $args "values" $values -}}
{{- $_ := set $all (printf "guard-%s" $name) (merge $guard (dict "scaleOn" "lag" "secrets" (list "kafkaUser" "recordKey" "tenantKeys"))) -}}
{{- end -}}
{{- $all | toYaml -}}
{{- end -}}

{{/* The server and the proxy, if they are enabled, each with its arguments, files of Secrets and values. */}}
{{- define "weir.fronts" -}}
{{- $all := dict -}}
{{- with .Values.serve -}}
{{- if .enabled -}}
{{- $args := list "serve" "--http-host" "0.0.0.0" "--http-port" "4140" -}}
{{- $files := list -}}
{{- if .apiKeys.secret -}}
{{- $args = concat $args (list "--api-keys" "/run/weir/api-keys/keys.json") -}}
{{- $files = append $files (dict "name" "api-keys" "secret" .apiKeys.secret "key" "keys.json") -}}
{{- end -}}
{{- range $value, $flag := dict "audience" "--oidc-audience" "clientId" "--oidc-client-id" "consoleUrl" "--oidc-console-url" "issuer" "--oidc-issuer" "jwks" "--oidc-jwks" -}}
{{- with get $.Values.serve.oidc $value -}}
{{- $args = concat $args (list $flag .) -}}
{{- end -}}
{{- end -}}
{{- if .oidc.allTenants -}}
{{- $args = append $args "--oidc-all-tenants" -}}
{{- end -}}
{{- with .oidc.clientSecret -}}
{{- $args = concat $args (list "--oidc-client-secret-file" "/run/weir/oidc-client/client-secret") -}}
{{- $files = append $files (dict "name" "oidc-client" "secret" . "key" "client-secret") -}}
{{- end -}}
{{- if .webhook.url -}}
{{- $args = concat $args (list "--webhook-url" .webhook.url "--webhook-secret-file" "/run/weir/webhook/webhook-secret") -}}
{{- $files = append $files (dict "name" "webhook" "secret" .webhook.secret "key" "webhook-secret") -}}
{{- end -}}
{{- $values := mergeOverwrite (deepCopy $.Values.stageDefaults) (deepCopy .) -}}
{{- $callsOut := not (empty (or .webhook.url .oidc.issuer)) -}}
{{- $decides := ne (toString .approver) "false" -}}
{{- $writers := ternary (list "edge" "approver") (list "edge") $decides -}}
{{- $_ := set $all "serve" (dict "principal" (ternary "serve" "edge" $decides) "writers" $writers "args" (concat $args .extraArgs) "files" $files "values" $values "port" 4140 "readsAgents" true "callsOut" $callsOut) -}}
{{- end -}}
{{- end -}}
{{- with .Values.proxy -}}
{{- if .enabled -}}
{{- $args := list "proxy" "--host" "0.0.0.0" "--allow-remote" "--port" "4141" "--upstream" .upstream -}}
{{- $values := mergeOverwrite (deepCopy $.Values.stageDefaults) (deepCopy .) -}}
{{- $_ := set $all "proxy" (dict "principal" "front" "args" (concat $args .extraArgs) "files" (list) "values" $values "port" 4141 "readsAgents" false "callsOut" true) -}}
{{- end -}}
{{- end -}}
{{- $all | toYaml -}}
{{- end -}}

{{- define "weir.maxReplicas" -}}
{{- .values.autoscaling.maxReplicas | default .root.Values.kafka.partitions | int -}}
{{- end -}}

{{/* Labels that never change. Argument: dict root, component. */}}
{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/part-of: weir
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "weir.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "weir.secretOf" -}}
{{- .pattern | replace "{principal}" .principal -}}
{{- end -}}

{{/* Variables of every process of Weir. Argument: dict root, principal, secrets; writers: its keys of
     signed records are a folder with these. */}}
{{- define "weir.env" -}}
{{- $kafka := .root.Values.kafka -}}
- name: WEIR_BUS
  value: kafka
- name: WEIR_BOOTSTRAP_SERVER
  value: {{ $kafka.bootstrapServers | quote }}
- name: WEIR_TOPIC_PREFIX
  value: {{ $kafka.topicPrefix | quote }}
- name: WEIR_PARTITIONS
  value: {{ $kafka.partitions | int | quote }}
- name: WEIR_REPLICATION_FACTOR
  value: {{ $kafka.replicationFactor | int | quote }}
- name: WEIR_RETENTION_DAYS
  value: {{ $kafka.retentionDays | int | quote }}
{{- if and (has "kafkaUser" .secrets) (eq $kafka.login "properties") }}
- name: WEIR_COMMAND_CONFIG
  value: /run/weir/kafka-user/client.properties
{{- end }}
{{- if and (has "kafkaUser" .secrets) (eq $kafka.login "strimzi") }}
- name: KAFKA_LOGIN_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ include "weir.secretOf" (dict "pattern" $kafka.userSecret "principal" .principal) }}
      key: sasl.jaas.config
- name: WEIR_COMMAND_PROPERTY
  value: |-
    security.protocol={{ ternary "SASL_SSL" "SASL_PLAINTEXT" (ne $kafka.ca.secret "") }}
    sasl.mechanism=SCRAM-SHA-512
    sasl.jaas.config=$(KAFKA_LOGIN_SECRET)
    {{- if $kafka.ca.secret }}
    ssl.truststore.type=PEM
    ssl.truststore.location=/run/weir/kafka-ca/ca.crt
    {{- end }}
{{- end }}
{{- if and (has "recordKey" .secrets) .root.Values.recordSigning.enabled }}
- name: WEIR_RECORD_SIGNING
  value: /run/weir/record-key{{ if not .writers }}/key.json{{ end }}
{{- end }}
{{- if and (has "tenantKeys" .secrets) .root.Values.encryption.secret }}
- name: WEIR_ENCRYPTION_KEYS
  value: /run/weir/tenant-keys/keys.json
{{- end }}
{{- end -}}

{{/* Mounts of the folders that Weir writes, and of the secrets of its principal. */}}
{{- define "weir.mounts" -}}
- { name: data, mountPath: /var/lib/weir }
- { name: tmp, mountPath: /tmp }
{{- if and (has "kafkaUser" .secrets) (eq .root.Values.kafka.login "properties") }}
- { name: kafka-user, mountPath: /run/weir/kafka-user, readOnly: true }
{{- end }}
{{- if .root.Values.kafka.ca.secret }}
- { name: kafka-ca, mountPath: /run/weir/kafka-ca, readOnly: true }
{{- end }}
{{- if and (has "recordKey" .secrets) .root.Values.recordSigning.enabled }}
- { name: record-key, mountPath: /run/weir/record-key, readOnly: true }
{{- end }}
{{- if and (has "tenantKeys" .secrets) .root.Values.encryption.secret }}
- { name: tenant-keys, mountPath: /run/weir/tenant-keys, readOnly: true }
{{- end }}
{{- end -}}

{{/* 288 is the mode 0440: readable by root and the group of the pod. Weir refuses a wider one. */}}
{{- define "weir.volumes" -}}
- name: data
  emptyDir: { sizeLimit: {{ .dataSize }} }
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
{{- if and (has "kafkaUser" .secrets) (eq .root.Values.kafka.login "properties") }}
- name: kafka-user
  secret:
    secretName: {{ include "weir.secretOf" (dict "pattern" .root.Values.kafka.userSecret "principal" .principal) }}
    defaultMode: 288
    items: [{ key: client.properties, path: client.properties }]
{{- end }}
{{- with .root.Values.kafka.ca }}
{{- if .secret }}
- name: kafka-ca
  secret:
    secretName: {{ .secret }}
    defaultMode: 288
    items: [{ key: {{ .key }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- if and (has "recordKey" .secrets) .root.Values.recordSigning.enabled }}
- name: record-key
  {{- if .writers }}
  projected:
    defaultMode: 288
    sources:
      {{- range .writers }}
      - secret:
          name: {{ include "weir.secretOf" (dict "pattern" $.root.Values.recordSigning.secret "principal" .) }}
          items: [{ key: key.json, path: {{ . }}.json }]
      {{- end }}
  {{- else }}
  secret:
    secretName: {{ include "weir.secretOf" (dict "pattern" .root.Values.recordSigning.secret "principal" .principal) }}
    defaultMode: 288
    items: [{ key: key.json, path: key.json }]
  {{- end }}
{{- end }}
{{- if and (has "tenantKeys" .secrets) .root.Values.encryption.secret }}
- name: tenant-keys
  secret:
    secretName: {{ .root.Values.encryption.secret }}
    defaultMode: 288
    items: [{ key: keys.json, path: keys.json }]
{{- end }}
{{- end -}}

{{/* The user of the image. Argument: dict sandbox. */}}
{{- define "weir.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: {{ ternary "Unconfined" "RuntimeDefault" .sandbox }} }
{{- if .sandbox }}
appArmorProfile: { type: Unconfined }
{{- end }}
{{- end -}}

{{- define "weir.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities: { drop: [ALL] }
{{- if .sandbox }}
procMount: Unmasked
{{- end }}
{{- end -}}

{{/* Egress to DNS and Kafka, which every process needs. */}}
{{- define "weir.egress" -}}
{{- with .Values.networkPolicy -}}
- to: {{- toYaml .dns.to | nindent 4 }}
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
- ports:
    {{- range .kafka.ports }}
    - { protocol: TCP, port: {{ . | int }} }
    {{- end }}
  {{- with .kafka.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}
