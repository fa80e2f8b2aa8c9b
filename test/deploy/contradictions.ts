// Values that contradict each other or cannot be, and a part of the error of each.

import type { ValueFile } from './render.ts'

type Contradiction = { title: string; of: ValueFile; values: string[]; error: string }

export const contradictions: Contradiction[] = [
  {
    title: 'no broker',
    of: 'minimal',
    values: ['kafka.bootstrapServers='],
    error: 'kafka.bootstrapServers is empty',
  },
  {
    title: 'a server without keys and without an issuer',
    of: 'fronts',
    values: ['serve.apiKeys.secret=', 'serve.oidc.issuer='],
    error: 'serve.enabled is true without serve.apiKeys.secret and serve.oidc.issuer',
  },
  {
    title: 'a server that nobody may reach',
    of: 'fronts',
    values: ['serve.clients=null'],
    error: 'serve.enabled is true and serve.clients is empty',
  },
  {
    title: 'a webhook without a secret',
    of: 'fronts',
    values: ['serve.webhook.secret='],
    error: 'serve.webhook.url and serve.webhook.secret go together',
  },
  {
    title: 'a proxy without a provider',
    of: 'fronts',
    values: ['proxy.upstream='],
    error: 'proxy.upstream is empty',
  },
  {
    title: 'more pods than partitions',
    of: 'minimal',
    values: ['stages.validator.replicas=13'],
    error: 'replicas of validator is 13 and kafka.partitions is 12',
  },
  {
    title: 'an autoscaler that passes the partitions',
    of: 'fleet',
    values: ['stages.guest.autoscaling.maxReplicas=25'],
    error: 'autoscaling.maxReplicas of guest is 25 and kafka.partitions is 24',
  },
  {
    title: 'a minimum above the maximum',
    of: 'fleet',
    values: ['stages.guest.autoscaling.maxReplicas=1'],
    error: 'autoscaling.minReplicas of guest is 2 and the maximum is 1',
  },
  {
    title: 'an autoscaler without Prometheus',
    of: 'fleet',
    values: ['autoscaling.prometheus='],
    error: 'autoscaling.prometheus is empty',
  },
  {
    title: 'an autoscaler without its labels',
    of: 'fleet',
    values: ['metrics.podMonitor=false'],
    error: 'metrics.podMonitor is false',
  },
  {
    title: 'metrics that no peer may read',
    of: 'minimal',
    values: ['metrics.podMonitor=true'],
    error: 'networkPolicy.metrics.from is empty',
  },
  {
    title: 'stages with agents and no agent files',
    of: 'minimal',
    values: ['agents.configMap='],
    error: 'agents.configMap is empty and executor needs agent files',
  },
  {
    title: 'keys of models for tools',
    of: 'fleet',
    values: ['toolSecrets.secret=model-keys'],
    error: 'modelKeys.secret and toolSecrets.secret are both "model-keys": use two Secrets',
  },
  {
    title: 'keys of models beside keys of tenants',
    of: 'fleet',
    values: ['encryption.secret=model-keys'],
    error: 'modelKeys.secret and encryption.secret are both "model-keys"',
  },
  {
    title: 'a login of Strimzi without TLS',
    of: 'fleet',
    values: ['kafka.ca.secret='],
    error: 'kafka.login is strimzi and kafka.ca.secret is empty',
  },
  {
    title: 'a retention that no process accepts',
    of: 'minimal',
    values: ['kafka.retentionDays=5'],
    error: 'retentionDays',
  },
  {
    title: 'a request above its limit',
    of: 'minimal',
    values: ['stages.guest.resources.requests.memory=512Mi'],
    error: 'resources of guest request 512Mi of memory and the limit is 384Mi',
  },
  {
    title: 'a guard that does not ship',
    of: 'minimal',
    values: ['guards.mine.guard=spendd'],
    error: 'guard',
  },
  {
    title: 'keys of models without the stage that asks models',
    of: 'fleet',
    values: ['stages.llm-gateway.enabled=false'],
    error: 'modelKeys.secret is set and stages.llm-gateway.enabled is false',
  },
  {
    title: 'a sandbox without the stage that runs tools',
    of: 'minimal',
    values: ['stages.executor.enabled=false', 'sandbox.enabled=true'],
    error: 'sandbox.enabled is true and stages.executor.enabled is false',
  },
  {
    title: 'one Secret for all principals',
    of: 'fleet',
    values: ['recordSigning.secret=keys'],
    error: 'recordSigning.secret is "keys": it needs {principal}',
  },
  {
    title: 'one Secret for logins and keys',
    of: 'fleet',
    values: ['recordSigning.secret=weir-{principal}'],
    error: 'kafka.userSecret and recordSigning.secret name the same Secrets',
  },
  {
    title: 'a port of a broker that the policy closes',
    of: 'fleet',
    values: ['networkPolicy.kafka.ports={9092}'],
    error: 'the broker main-kafka-bootstrap:9093 has the port 9093',
  },
  {
    title: 'certificates without a login',
    of: 'fleet',
    values: ['kafka.login=none'],
    error: 'kafka.ca.secret is set and kafka.login is none',
  },
  {
    title: 'a variable that the chart sets',
    of: 'minimal',
    values: ['stages.guest.extraEnv[0].name=WEIR_BUS', 'stages.guest.extraEnv[0].value=embedded'],
    error: 'extraEnv of guest sets WEIR_BUS',
  },
  {
    title: 'a guard with the name of a stage',
    of: 'minimal',
    values: ['guards.approval.guard=shell'],
    error: 'guards.approval: the stage approval has this name',
  },
  {
    title: 'a guard without its file',
    of: 'minimal',
    values: ['guards.mine.replicas=1'],
    error: 'guard',
  },
  {
    title: 'no stage',
    of: 'tools',
    values: ['stages.executor.enabled=false', 'toolSecrets.secret=', 'sandbox.enabled=false'],
    error: 'no stage is enabled',
  },
  {
    title: 'a stage that does not exist',
    of: 'minimal',
    values: ['stages.validater.replicas=2'],
    error: 'validater',
  },
  {
    title: 'a grace that is shorter than a shutdown',
    of: 'minimal',
    values: ['stages.executor.terminationGracePeriodSeconds=30'],
    error: 'terminationGracePeriodSeconds',
  },
  {
    title: 'a broker without a port',
    of: 'minimal',
    values: ['kafka.bootstrapServers=kafka'],
    error: 'bootstrapServers',
  },
]
