{{/* Values that contradict each other. values.schema.json checks each value on its own. */}}
{{- define "weir.checkValues" -}}
{{- $kafka := .Values.kafka -}}
{{- $partitions := $kafka.partitions | int -}}
{{- if not $kafka.bootstrapServers -}}
{{- fail "kafka.bootstrapServers is empty: set the brokers, HOST:PORT, separated by commas" -}}
{{- end -}}
{{- if and (eq $kafka.login "none") $kafka.ca.secret -}}
{{- fail "kafka.ca.secret is set and kafka.login is none: set kafka.login to properties or strimzi, or remove kafka.ca.secret" -}}
{{- end -}}
{{- if and (eq $kafka.login "strimzi") (not $kafka.ca.secret) (not $kafka.allowPlaintext) -}}
{{- fail "kafka.login is strimzi and kafka.ca.secret is empty: set it for TLS, or kafka.allowPlaintext to true" -}}
{{- end -}}
{{- range $value, $pattern := dict "kafka.userSecret" $kafka.userSecret "recordSigning.secret" .Values.recordSigning.secret -}}
{{- if not (contains "{principal}" $pattern) -}}
{{- fail (printf "%s is %q: it needs {principal}, because no two stages share a Secret" $value $pattern) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.recordSigning.enabled (ne $kafka.login "none") (eq $kafka.userSecret .Values.recordSigning.secret) -}}
{{- fail "kafka.userSecret and recordSigning.secret name the same Secrets: use two names" -}}
{{- end -}}
{{- $owners := dict -}}
{{- range $secret := list "modelKeys" "toolSecrets" "encryption" "kafka.ca" -}}
{{- $name := (ternary $kafka.ca (get $.Values $secret) (eq $secret "kafka.ca")).secret -}}
{{- if and $name (hasKey $owners $name) -}}
{{- fail (printf "%s.secret and %s.secret are both %q: use two Secrets, because a stage gets only what it needs" (get $owners $name) $secret $name) -}}
{{- end -}}
{{- if $name -}}
{{- $_ := set $owners $name $secret -}}
{{- end -}}
{{- end -}}
{{- if .Values.networkPolicy.enabled -}}
{{- range splitList "," $kafka.bootstrapServers -}}
{{- $port := splitList ":" . | last | trim -}}
{{- if not (has $port (toStrings $.Values.networkPolicy.kafka.ports)) -}}
{{- fail (printf "the broker %s has the port %s, and networkPolicy.kafka.ports does not: add it" (trim .) $port) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.autoscaling.enabled -}}
{{- if not .Values.autoscaling.prometheus -}}
{{- fail "autoscaling.enabled is true and autoscaling.prometheus is empty: set the address of Prometheus" -}}
{{- end -}}
{{- if not .Values.metrics.podMonitor -}}
{{- fail "autoscaling.enabled is true and metrics.podMonitor is false: the queries need the labels of the PodMonitor" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.metrics.podMonitor .Values.networkPolicy.enabled (not .Values.networkPolicy.metrics.from) -}}
{{- fail "metrics.podMonitor is true and networkPolicy.metrics.from is empty: name the peers that read metrics" -}}
{{- end -}}
{{- if hasKey .Values.guards "approval" -}}
{{- fail "guards.approval: the stage approval has this name, choose another" -}}
{{- end -}}
{{- $running := list -}}
{{- range $stage, $listed := include "weir.processes" . | fromYaml -}}
{{- $values := $listed.values -}}
{{- if $values.enabled -}}
{{- $running = append $running $stage -}}
{{- include "weir.checkStage" (dict "root" $ "stage" $stage "listed" $listed "values" $values "partitions" $partitions) -}}
{{- else -}}
{{- range $kind := list "modelKeys" "toolSecrets" -}}
{{- if and (has $kind $listed.secrets) (get $.Values $kind).secret -}}
{{- fail (printf "%s.secret is set and stages.%s.enabled is false: no other stage gets it" $kind $stage) -}}
{{- end -}}
{{- end -}}
{{- if and $.Values.sandbox.enabled (has "toolSecrets" $listed.secrets) -}}
{{- fail (printf "sandbox.enabled is true and stages.%s.enabled is false: only this stage runs tools" $stage) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $fronts := include "weir.fronts" . | fromYaml -}}
{{- if not (or $running $fronts) -}}
{{- fail "no stage is enabled: set stages.NAME.enabled" -}}
{{- end -}}
{{- range $front, $listed := $fronts -}}
{{- if and $.Values.networkPolicy.enabled (not $listed.values.clients) -}}
{{- fail (printf "%s.enabled is true and %s.clients is empty: name the peers of a NetworkPolicy that reach the port" $front $front) -}}
{{- end -}}
{{- end -}}
{{- with .Values.serve -}}
{{- if .enabled -}}
{{- if not (or .apiKeys.secret .oidc.issuer) -}}
{{- fail "serve.enabled is true without serve.apiKeys.secret and serve.oidc.issuer: set one of them" -}}
{{- end -}}
{{- if ne (empty .webhook.url) (empty .webhook.secret) -}}
{{- fail "serve.webhook.url and serve.webhook.secret go together: set both" -}}
{{- end -}}
{{- if not $.Values.agents.configMap -}}
{{- fail "agents.configMap is empty and serve needs agent files: set it, or serve.enabled to false" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.proxy.enabled (not .Values.proxy.upstream) -}}
{{- fail "proxy.enabled is true and proxy.upstream is empty: set the base URL of the model provider" -}}
{{- end -}}
{{- end -}}

{{- define "weir.checkStage" -}}
{{- $scaling := .values.autoscaling -}}
{{- if .root.Values.autoscaling.enabled -}}
{{- $most := include "weir.maxReplicas" . | int -}}
{{- if gt $most .partitions -}}
{{- fail (printf "autoscaling.maxReplicas of %s is %d and kafka.partitions is %d: a pod without a partition has no work" .stage $most .partitions) -}}
{{- end -}}
{{- if gt ($scaling.minReplicas | int) $most -}}
{{- fail (printf "autoscaling.minReplicas of %s is %d and the maximum is %d" .stage ($scaling.minReplicas | int) $most) -}}
{{- end -}}
{{- else if gt (.values.replicas | int) .partitions -}}
{{- fail (printf "replicas of %s is %d and kafka.partitions is %d: a pod without a partition has no work" .stage (.values.replicas | int) .partitions) -}}
{{- end -}}
{{- if and .listed.readsAgents (not .root.Values.agents.configMap) -}}
{{- fail (printf "agents.configMap is empty and %s needs agent files: set it, or stages.%s.enabled to false" .stage .stage) -}}
{{- end -}}
{{- range $kind, $request := (.values.resources).requests -}}
{{- $limit := get (($.values.resources).limits | default dict) $kind | toString -}}
{{- $unit := regexFind "[A-Za-z]*$" ($request | toString) -}}
{{- if and $limit (eq $unit (regexFind "[A-Za-z]*$" $limit)) (gt (trimSuffix $unit ($request | toString) | float64) (trimSuffix $unit $limit | float64)) -}}
{{- fail (printf "resources of %s request %s of %s and the limit is %s" $.stage ($request | toString) $kind $limit) -}}
{{- end -}}
{{- end -}}
{{- $own := include "weir.env" (dict "root" .root "principal" .listed.principal "secrets" .listed.secrets) -}}
{{- $names := list "WEIR_HEALTH_HOST" "WEIR_HEALTH_PORT" "WEIR_LOG_LEVEL" "WEIR_AGENTS" -}}
{{- range fromYamlArray $own -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- range .values.extraEnv -}}
{{- if has .name $names -}}
{{- fail (printf "extraEnv of %s sets %s: other values of the chart set it" $.stage .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
