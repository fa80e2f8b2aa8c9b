// The chart: its lists agree with the code, and its golden renders keep secrets, rights and networks
// where they belong. chart.int.test.ts renders it again, and `make check-deploy` checks the schemas.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { describe, expect, it, test } from '@jest/globals'
import { Command } from 'commander'
import { parse } from 'yaml'
import { addProxy } from '../../apps/cli/commands/proxy.ts'
import { addServe } from '../../apps/cli/commands/serve.ts'
import { shutdownMsMax } from '../../apps/service/closing.ts'
import { readerOfGuard } from '../../apps/service/read-partitions.ts'
import { agentParts, stagesWithAgents } from '../../apps/service/selected-stages.ts'
import * as shipped from '../../client/guards/guards.ts'
import spendGuard from '../../services/guards/spend/guard.ts'
import { kafkaClient } from '../../shared/bus/kafka/properties/client-of-settings.ts'
import { guardPrincipal, writersOf } from '../../shared/bus/signing/principals.ts'
import { downtimeDaysDefault, retentionFault } from '../../shared/contract/retention.ts'
import { type StageName, stageNames } from '../../shared/contract/topology.ts'
import { readSettings, settingTable } from '../../shared/settings/settings.ts'
import { mistakesIn } from './expressions.ts'
import { chartFolder, resourcesOf, type ValueFile, valueFiles } from './render.ts'

type Variable = { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string } } }
type Volume = {
  name: string
  secret?: { secretName: string; defaultMode: number }
  projected?: { defaultMode: number; sources: { secret: { name: string } }[] }
}
type SecurityContext = Record<string, unknown>
type Container = {
  args: string[]
  env: Variable[]
  envFrom?: { secretRef: { name: string } }[]
  securityContext: SecurityContext
  resources: Record<'requests' | 'limits', Record<string, string>>
}
type PodSpec = {
  containers: [Container]
  volumes: Volume[]
  hostUsers?: boolean
  automountServiceAccountToken: boolean
  terminationGracePeriodSeconds: number
  securityContext: SecurityContext
}
type Rule = { to?: object[]; ports: { port: number }[] }
type Resource = {
  kind: string
  metadata: { name: string; labels: Record<string, string> }
  spec: {
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec }
    selector: { matchLabels: Record<string, string> }
    podSelector: { matchLabels: Record<string, string> }
    egress: Rule[]
    ingress: object[]
    ports: object[]
    minReplicaCount: number
    maxReplicaCount: number
    triggers: { metadata: { query: string } }[]
    groups: { rules: object[] }[]
  }
}

/** The parts of a Job or a Deployment that decide the order of an upgrade. */
type Rollout = {
  kind: string
  metadata: { annotations?: Record<string, string> }
  spec: {
    strategy: { type: string; rollingUpdate: object }
    template: {
      spec: {
        containers: [{ args: string[]; image: string }]
      }
    }
  }
}

const file = (name: string) => readFileSync(join(chartFolder, name), 'utf8')
const values = parse(file('values.yaml')) as {
  stages: object
  stageDefaults: { terminationGracePeriodSeconds: number }
  networkPolicy: { kafka: { ports: number[] }; models: { ports: number[] } }
}

/** Of test/deploy/values/fleet.yaml. */
const guards = ['shell', 'spend']

const component = ({ metadata }: Resource) => metadata.labels['app.kubernetes.io/component'] ?? ''

function ofKind(name: ValueFile, ...kinds: string[]): Resource[] {
  return resourcesOf<Resource>(name).filter(({ kind }) => kinds.includes(kind))
}

/** The pods of a golden file by component: stages, and the Job of the topics. */
function pods(name: ValueFile): [string, PodSpec][] {
  return ofKind(name, 'Deployment', 'Job').map((one) => [component(one), one.spec.template.spec])
}

/** The components with each Secret, as a file or as variables. */
function holdersOfSecrets(name: ValueFile): Record<string, string[]> {
  const holders: Record<string, string[]> = {}
  for (const [of, { containers, volumes }] of pods(name)) {
    const [{ env, envFrom = [] }] = containers
    const secrets = [
      ...env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef.name ?? []),
      ...envFrom.map(({ secretRef }) => secretRef.name),
      ...volumes.flatMap(({ secret }) => secret?.secretName ?? []),
      ...volumes.flatMap(
        ({ projected }) => projected?.sources.map(({ secret }) => secret.name) ?? [],
      ),
    ]
    for (const secret of secrets) holders[secret] = [...(holders[secret] ?? []), of]
  }
  for (const all of Object.values(holders)) all.sort()
  return holders
}

describe('the list of stages', () => {
  const listed = parse(file('files/stages.yaml')) as Record<StageName, object>

  it('has each stage of the code, with the secrets that the stage needs and no other', () => {
    const ofParts = { model: 'modelKeys', tools: 'toolSecrets' }
    const expected = stageNames.map((stage) => {
      const performs = stagesWithAgents([stage]).length > 0
      const secrets = agentParts([stage]).map((part) => ofParts[part])
      return [
        stage,
        {
          scaleOn: performs ? 'slots' : 'lag',
          secrets: ['kafkaUser', 'recordKey', 'tenantKeys', ...secrets],
          ...(performs && { readsAgents: true }),
        },
      ]
    })
    expect(Object.entries(listed)).toEqual(expected)
  })

  it('has the same names in the values and their schema', () => {
    const { properties } = JSON.parse(file('values.schema.json'))
    expect(Object.keys(properties.stages.properties)).toEqual(stageNames)
    expect(Object.keys(values.stages)).toEqual(stageNames)
  })
})

/** Those that are not of a stage: stageDefaults has the values of stages. */
function ownValues(properties: Record<string, { $ref?: string }>): string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    name !== 'enabled' && isOfStage(schema.$ref) ? [] : [name],
  )
}

function isOfStage(reference = ''): boolean {
  return reference.startsWith('#/definitions/stage/properties/')
}

describe('the chart', () => {
  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(chartFolder, '../../package.json'), 'utf8'))
    expect(parse(file('Chart.yaml'))).toMatchObject({ version, appVersion: version })
  })

  it('gives a process more time to stop than it takes, and accepts no less', () => {
    const { definitions } = JSON.parse(file('values.schema.json'))
    const { minimum } = definitions.stage.properties.terminationGracePeriodSeconds
    for (const seconds of [minimum, values.stageDefaults.terminationGracePeriodSeconds])
      expect(seconds * 1000).toBeGreaterThan(shutdownMsMax)
  })

  it('accepts each retention that a process accepts with the default downtime, and no less', () => {
    const { properties } = JSON.parse(file('values.schema.json'))
    const { minimum } = properties.kafka.properties.retentionDays
    expect(retentionFault(minimum, downtimeDaysDefault)).toBeUndefined()
    expect(retentionFault(minimum - 1, downtimeDaysDefault)).toBeDefined()
  })

  it('knows the guards that ship', () => {
    const { definitions } = JSON.parse(file('values.schema.json'))
    const pattern = new RegExp(definitions.guard.properties.guard.pattern)
    const names = Object.keys(shipped).map((name) => name.replace(/Guard$/, ''))
    expect(names).toContain('spend')
    for (const given of [...names, '/guards/mine.mjs']) expect(given).toMatch(pattern)
    expect('spendd').not.toMatch(pattern)
  })

  it('describes every value in its schema', () => {
    const { properties, definitions } = JSON.parse(file('values.schema.json'))
    const all = parse(file('values.yaml'))
    expect(Object.keys(all).toSorted()).toEqual(
      Object.keys(properties)
        .filter((name) => name !== 'global')
        .toSorted(),
    )
    for (const [name, { properties: inner }] of Object.entries<{
      properties?: Parameters<typeof ownValues>[0]
    }>(properties))
      if (inner !== undefined && name !== 'global')
        expect([name, Object.keys(all[name]).toSorted()]).toEqual([
          name,
          ownValues(inner).toSorted(),
        ])
    expect(Object.keys(all.stageDefaults).toSorted()).toEqual(
      Object.keys(definitions.stage.properties).toSorted(),
    )
  })
})

describe.each(valueFiles)('the golden render of %s', (name) => {
  it('sets only settings that exist', () => {
    const known = Object.values(settingTable).map(({ variable }) => variable)
    const others = ['KAFKA_LOGIN_SECRET', 'TZ']
    const set = pods(name).flatMap(([, { containers }]) => containers[0].env.map((one) => one.name))
    expect(set.filter((one) => ![...known, ...others].includes(one))).toEqual([])
  })

  it('runs no root, no capability, no writable image and no token, with all resources bounded', () => {
    for (const [, { containers, ...pod }] of pods(name)) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
      })
      expect(containers[0].securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      for (const bound of [containers[0].resources.requests, containers[0].resources.limits])
        expect(Object.keys(bound).toSorted()).toEqual(['cpu', 'ephemeral-storage', 'memory'])
    }
  })

  it('opens the profiles of a pod for sandboxes only, in the executor only', () => {
    const open = pods(name).filter(
      ([, { securityContext, containers, hostUsers }]) =>
        JSON.stringify([securityContext, containers[0].securityContext]).includes('Un') ||
        hostUsers === false,
    )
    expect(open.map(([of]) => of)).toEqual(name === 'tools' ? ['executor'] : [])
    for (const [, pod] of open) {
      expect(pod).toMatchObject({
        hostUsers: false,
        securityContext: {
          seccompProfile: { type: 'Unconfined' },
          appArmorProfile: { type: 'Unconfined' },
        },
      })
      expect(pod.containers[0].securityContext.procMount).toBe('Unmasked')
    }
  })

  it('mounts secrets for the user and the group of the pod only', () => {
    const modes = pods(name).flatMap(([, { volumes }]) =>
      volumes.flatMap(({ secret }) => secret?.defaultMode ?? []),
    )
    for (const mode of modes) expect(mode).toBe(0o440)
  })

  it('has a network policy and a disruption budget for each Deployment, with its labels', () => {
    const deployments = ofKind(name, 'Deployment')
    for (const one of deployments) {
      const { matchLabels } = one.spec.selector
      const budgets = ofKind(name, 'PodDisruptionBudget').map(({ spec }) => spec.selector)
      const policies = ofKind(name, 'NetworkPolicy').map(({ spec }) => spec.podSelector)
      expect(one.spec.template.metadata.labels).toMatchObject(matchLabels)
      for (const all of [budgets, policies])
        expect(
          all.filter(
            (by) => `${Object.values(by.matchLabels)}` === `${Object.values(matchLabels)}`,
          ),
        ).toHaveLength(1)
    }
    const all = {
      minimal: stageNames.length,
      fleet: stageNames.length + guards.length,
      tools: 1,
      fronts: 2,
    }
    expect(deployments.length).toBe(all[name])
  })

  it('lets each stage reach DNS and Kafka, models only llm-gateway and tools only executor', () => {
    for (const policy of ofKind(name, 'NetworkPolicy')) {
      const [dns, kafka, ...others] = policy.spec.egress
      expect(dns?.ports.map(({ port }) => port)).toEqual([53, 53])
      expect(kafka?.ports.map(({ port }) => port)).toEqual([name === 'minimal' ? 9092 : 9093])
      const ports = others.flatMap((rule) => rule.ports.map(({ port }) => port))
      const ofTools = name === 'fleet' ? [8080] : []
      const expected: Record<string, number[]> = {
        'llm-gateway': [443],
        executor: ofTools,
        serve: [443],
        proxy: [443],
      }
      expect([component(policy), ports]).toEqual([
        component(policy),
        expected[component(policy)] ?? [],
      ])
      for (const rule of others) expect(rule.to?.length).toBeGreaterThan(0)
    }
  })
})

describe('each Secret', () => {
  it('of a fleet is in the stages that need it, and in no other', () => {
    const principals = [
      ...stageNames.map((stage) => [stage, stage]),
      ...guards.map((guard) => [guardPrincipal(guard), `guard-${guard}`]),
    ]
    const own = principals.flatMap(([principal, of]) => [
      [`weir-${principal}`, [of]],
      [`weir-key-${principal}`, [of]],
    ])
    expect(holdersOfSecrets('fleet')).toEqual({
      ...Object.fromEntries(own),
      'model-keys': ['llm-gateway'],
      'tool-secrets': ['executor'],
      'tenant-keys': principals.map(([, of]) => of).toSorted(),
      'main-cluster-ca-cert': principals.map(([, of]) => of).toSorted(),
    })
  })

  it('of an executor alone is its own', () => {
    expect(holdersOfSecrets('tools')).toEqual({
      'weir-executor': ['executor'],
      'tool-secrets': ['executor'],
      'kafka-ca': ['executor'],
    })
  })

  it('of the server is that of clients and approvers, with the keys, and of the proxy that of fronts', () => {
    expect(writersOf('guest-events')).toContain('front')
    expect(writersOf('guest-events')).not.toContain('edge')
    expect(holdersOfSecrets('fronts')).toEqual({
      'weir-serve': ['serve'],
      'weir-key-edge': ['serve'],
      'weir-key-approver': ['serve'],
      'weir-front': ['proxy'],
      'weir-key-front': ['proxy'],
      'main-cluster-ca-cert': ['proxy', 'serve'],
      'api-keys': ['serve'],
      'oidc-client': ['serve'],
      webhook: ['serve'],
    })
  })

  it('is absent without a login, keys and signing', () => {
    expect(holdersOfSecrets('minimal')).toEqual({})
  })
})

test('an upgrade creates topics and stores schemas with the new image first, then replaces one pod of a service at a time', () => {
  for (const name of valueFiles) {
    const all = resourcesOf<Rollout>(name)
    const jobs = all.filter(({ kind }) => kind === 'Job')
    const images = new Set<string>()
    for (const { metadata, spec } of jobs) {
      expect(metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade')
      expect(spec.template.spec.containers[0].args).toEqual(['topics', 'create'])
      images.add(spec.template.spec.containers[0].image)
    }
    for (const { kind, metadata, spec } of all.filter(({ kind }) => kind === 'Deployment')) {
      expect([kind, metadata.annotations?.['helm.sh/hook']]).toEqual([kind, undefined])
      expect(spec.strategy).toMatchObject({
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 1 },
      })
      expect(spec.template.spec.containers[0]).toHaveProperty('readinessProbe')
      images.add(spec.template.spec.containers[0].image)
    }
    expect([name, images.size]).toEqual([name, 1])
  }
})

test('the server and the proxy have flags that their commands know, and only named clients', () => {
  for (const [of, { containers }] of pods('fronts')) {
    const program = new Command()
    addServe(program)
    addProxy(program)
    const known = program.commands.find((one) => one.name() === of)?.options ?? []
    const flags = containers[0].args.filter((arg) => arg.startsWith('--'))
    expect(flags.filter((flag) => !known.some(({ long }) => long === flag))).toEqual([])
    const port = of === 'serve' ? 4140 : 4141
    const [policy] = ofKind('fronts', 'NetworkPolicy').filter((one) => component(one) === of)
    expect(policy?.spec.ingress).toEqual([
      { from: [expect.anything()], ports: [{ protocol: 'TCP', port }] },
    ])
    const [service] = ofKind('fronts', 'Service').filter((one) => component(one) === of)
    expect(service?.spec.ports).toEqual([{ name: 'http', port, targetPort: 'http' }])
  }
})

test('a guard has its options from a file that the guard accepts', () => {
  const [text] = resourcesOf<{ kind: string; data?: Record<string, string> }>('fleet').flatMap(
    ({ kind, data }) => (kind === 'ConfigMap' ? (data?.['options.json'] ?? []) : []),
  )
  expect(spendGuard(JSON.parse(text ?? '')).name).toBe('spend')
  const [of] = pods('fleet').filter(([name]) => name === 'guard-spend')
  const options = ['--options', '/options/options.json']
  expect(of?.[1].containers[0].args).toEqual(['guard', 'run', 'spend', ...options])
})

describe('the autoscaler', () => {
  const scaled = ofKind('fleet', 'ScaledObject')

  it('follows the lag of pure stages and guards, and the busy slots of llm-gateway and executor', () => {
    const metrics = scaled.map((one) => [
      component(one),
      [...(one.spec.triggers[0]?.metadata.query.matchAll(/weir_\w+/g) ?? [])].join(),
    ])
    expect(Object.fromEntries(metrics)).toEqual(
      Object.fromEntries([
        ...stageNames.map((stage) => [
          stage,
          stagesWithAgents([stage]).length > 0 ? 'weir_slots_busy,weir_slots' : 'weir_lag_records',
        ]),
        ...guards.map((guard) => [`guard-${guard}`, 'weir_lag_records']),
      ]),
    )
  })

  it('asks for metrics and labels that exist, of its own stage', () => {
    for (const one of scaled) {
      const query = one.spec.triggers[0]?.metadata.query ?? ''
      expect(mistakesIn(query)).toEqual([])
      const guard = guards.find((name) => component(one) === `guard-${name}`)
      expect(query).toContain(`stage="${guard ? readerOfGuard(guard) : component(one)}"`)
    }
  })

  it('keeps one process at least and one for each partition at most', () => {
    for (const { spec } of scaled) {
      expect(spec.minReplicaCount).toBeGreaterThanOrEqual(1)
      expect(spec.maxReplicaCount).toBeLessThanOrEqual(24)
    }
  })
})

describe("the login with Strimzi's Secrets", () => {
  const jaas =
    'org.apache.kafka.common.security.scram.ScramLoginModule required username="weir-executor" password="p=1,w#2";'

  it.each(pods('fleet'))('of %s is one that the client of Kafka accepts', async (_, pod) => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-chart-'))
    const trusted = join(folder, 'ca.crt')
    writeFileSync(trusted, rootCertificates[0] ?? '')
    const environment = Object.fromEntries(
      pod.containers[0].env.map(({ name, value }) => [
        name,
        (value ?? jaas)
          .replace('$(KAFKA_LOGIN_SECRET)', jaas)
          .replace('/run/weir/kafka-ca/ca.crt', trusted),
      ]),
    )
    const ignored: string[] = []
    const client = await kafkaClient(readSettings({}, environment), (note) => ignored.push(note))
    rmSync(folder, { recursive: true })
    expect(client).toMatchObject({
      brokers: ['main-kafka-bootstrap:9093'],
      sasl: { mechanism: 'scram-sha-512', username: 'weir-executor', password: 'p=1,w#2' },
      ssl: { ca: expect.stringContaining('BEGIN CERTIFICATE') },
    })
    expect(ignored).toEqual([])
  })
})

test('the PrometheusRule has the alert rules that ship', () => {
  const [rule] = ofKind('fleet', 'PrometheusRule')
  expect(rule?.spec).toEqual(parse(file('files/alerts.yaml')))
})
