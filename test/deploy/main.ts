// `make check-deploy`: checks deploy/chart and the resources of Strimzi without a cluster. Helm,
// kubeconform and kube-score are built from Go modules, which takes minutes the first time.
// `--write`: writes the golden files again.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { contradictions } from './contradictions.ts'
import { chartFolder, goldenPath, rendered, valueFiles, valuesPath } from './render.ts'
import {
  type CustomResourceDefinition,
  type Schema,
  type Swagger,
  schemasOfCrd,
  schemasOfSwagger,
} from './schemas.ts'
import { buildPrograms, folderOf, modules, outFolder, pathOf, run } from './tools.ts'

const kubernetesKinds = [
  { group: 'apps', version: 'v1', kind: 'Deployment' },
  { group: 'batch', version: 'v1', kind: 'Job' },
  { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
  { group: 'networking.k8s.io', version: 'v1', kind: 'NetworkPolicy' },
  { group: '', version: 'v1', kind: 'ConfigMap' },
  { group: '', version: 'v1', kind: 'Service' },
]

/** Checks of kube-score that the chart does not follow, and why. */
const ignoredChecks = {
  'container-security-context-user-group-id': 'user 1000 of the image owns its data folder',
  'deployment-has-host-podantiaffinity': 'topologySpreadConstraints do the same',
}

/** The server and the proxy are alive and ready while their port answers, at different intervals. */
const ignoredOfFronts = 'pod-probes-identical'

const isWriting = process.argv.includes('--write')

step('programs', buildPrograms)

const schemas = join(outFolder, 'schemas')
step('schemas', writeSchemas)

for (const name of valueFiles) {
  step(`${name}: helm lint`, () =>
    run(pathOf('helm'), ['lint', '--strict', chartFolder, '--values', valuesPath(name)]),
  )
  const text = rendered(name)
  step(`${name}: golden file`, () => {
    if (isWriting) writeFileSync(goldenPath(name), text)
    const golden = existsSync(goldenPath(name)) ? readFileSync(goldenPath(name), 'utf8') : ''
    assert.equal(text, golden, 'make check-deploy WRITE=1 writes the golden files again')
  })
  step(`${name}: kubeconform`, () => conform(rendered(name, ['metrics.dashboard=true'])))
  step(`${name}: kube-score`, () =>
    run(
      pathOf('kube-score'),
      [
        ...['score', '--kubernetes-version', 'v1.37', '--output-format', 'ci'],
        ...Object.keys(ignoredChecks).flatMap((check) => ['--ignore-test', check]),
        ...(name === 'fronts' ? ['--ignore-test', ignoredOfFronts] : []),
        ...['--enable-optional-test', 'container-seccomp-profile', '--exit-one-on-warning', '-'],
      ],
      { input: text },
    ),
  )
}

step('kubeconform finds a wrong field of each source of schemas', () => {
  const text = rendered('fleet')
  for (const [right, wrong] of [
    ['maxUnavailable: 1\n', 'maxUnavailableNow: 1\n'],
    ['minReplicaCount', 'minReplicas'],
    ['podMetricsEndpoints', 'podEndpoints'],
  ] as const) {
    assert(text.includes(right))
    assert.throws(() => conform(text.replace(right, wrong)), /Invalid: 1/)
  }
})

for (const { title, of, values, error } of contradictions)
  step(`refuses ${title}`, () => {
    assert.throws(
      () => rendered(of, values),
      ({ message }: Error) => message.includes(error),
    )
  })

step("Strimzi's topics and users", () => {
  const weir = join(import.meta.dirname, '../../bin/weir')
  const flags = ['--as', 'strimzi', '--cluster', 'main', '--guard', 'shell']
  conform(run(weir, ['topics', 'plan', ...flags, '--replication-factor', '3']))
  const users = run(weir, ['topics', 'acls', ...flags])
  conform(users)
  assert.throws(() => conform(users.replace('operations:', 'operation:')), /Invalid: 1/)
})

/** Fails also for a kind without a schema. */
function conform(text: string): void {
  const file = '{{.Group}}_{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'
  run(
    pathOf('kubeconform'),
    ['-strict', '-summary', '-schema-location', join(schemas, file), '-'],
    { input: text },
  )
}

function writeSchemas(): void {
  mkdirSync(schemas, { recursive: true })
  const kubernetes = join(folderOf(modules.kubernetes), 'api/openapi-spec/swagger.json')
  const swagger = JSON.parse(readFileSync(kubernetes, 'utf8')) as Swagger
  schemasOfSwagger(swagger, kubernetesKinds).forEach(write)
  const operator = join(folderOf(modules.prometheusOperator), 'example/prometheus-operator-crd')
  for (const path of [
    join(folderOf(modules.keda), 'config/crd/bases/keda.sh_scaledobjects.yaml'),
    join(operator, 'monitoring.coreos.com_podmonitors.yaml'),
    join(operator, 'monitoring.coreos.com_prometheusrules.yaml'),
    join(import.meta.dirname, 'crds/KafkaTopic.yaml'),
    join(import.meta.dirname, 'crds/KafkaUser.yaml'),
  ])
    schemasOfCrd(parse(readFileSync(path, 'utf8')) as CustomResourceDefinition).forEach(write)
}

function write({ file, schema }: { file: string; schema: Schema }): void {
  writeFileSync(join(schemas, file), JSON.stringify(schema))
}

function step(title: string, work: () => unknown): void {
  const since = performance.now()
  try {
    work()
  } catch (error) {
    console.error(`${title}: failed`)
    throw error
  }
  console.log(`${title}: done in ${((performance.now() - since) / 1000).toFixed(1)} s`)
}
