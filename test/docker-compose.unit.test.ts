// docker-compose.yml, its settings and its agent files, as far as they can be checked without
// Docker. test/compose/main.ts starts it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { badModels } from '../apps/demo/reflex-model.ts'
import { loadAgents } from '../client/weir.ts'
import { performs } from '../services/reducers.ts'
import { limits } from '../shared/contract/limits.ts'
import { stageNames } from '../shared/contract/topology.ts'
import { settingTable } from '../shared/settings/settings.ts'

type Service = {
  command?: string[]
  environment?: Record<string, string>
  ports?: string[]
  container_name?: string
  read_only?: boolean
  mem_limit?: string
  stop_grace_period?: string
  healthcheck?: object
}

const root = join(import.meta.dirname, '..')
const file = (name: string) => readFileSync(join(root, name), 'utf8')
const { services } = parse(file('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>
}
const ours = Object.entries(services).filter(([name]) => name !== 'kafka')

describe('docker-compose.yml', () => {
  it('has one service for each stage, with its probe', () => {
    for (const stage of stageNames)
      expect(services[stage]).toMatchObject({ command: ['up', '--stages', stage], healthcheck: {} })
    const others = ['kafka', 'topics', 'demo-model', 'demo']
    expect(Object.keys(services).toSorted()).toEqual([...stageNames, ...others].toSorted())
  })

  it('can be scaled: no service of ours has a fixed name or port on the machine, and all are bounded', () => {
    for (const [, service] of ours)
      expect(service).toMatchObject({ read_only: true, mem_limit: expect.stringMatching(/^\d+m$/) })
    for (const [, service] of ours)
      expect([service.ports, service.container_name]).toEqual([undefined, undefined])
  })

  it('sets only settings that exist', () => {
    const known = [
      ...Object.values(settingTable).map(({ variable }) => variable),
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
    ]
    const set = ours.flatMap(([, { environment }]) => Object.keys(environment ?? {}))
    expect(set.filter((name) => !known.includes(name))).toEqual([])
  })

  it('gives keys only to the stages that ask models and run tools', () => {
    const withKeys = ours.filter(([, { environment }]) =>
      Object.keys(environment ?? {}).some((name) => name.endsWith('_API_KEY')),
    )
    expect(withKeys.map(([name]) => name)).toEqual(stageNames.filter(performs))
  })

  it('waits for a stage longer than the stage takes to stop', () => {
    for (const stage of stageNames)
      expect(Number.parseInt(services[stage]?.stop_grace_period ?? '0', 10) * 1000).toBeGreaterThan(
        limits.shutdownMsMax,
      )
  })

  it('reads the variables that .env.example explains, with the same defaults', () => {
    const taken = [...file('docker-compose.yml').matchAll(/\$\{(\w+):-([^}]*)\}/g)].map(
      ([, name, value]) => `${name}=${value}`,
    )
    const explained = file('.env.example')
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
    expect([...new Set(taken)].toSorted()).toEqual(explained.toSorted())
  })
})

describe('the agents of the demo over Docker', () => {
  it('are one for each bad model that the model service knows by name', () => {
    const agents = loadAgents(join(root, 'apps', 'demo', 'agents'), {})
    expect(
      [...agents.values()].map(({ name, model }) => [name, model.name, model.baseUrl]),
    ).toEqual(badModels.map((bad) => [`demo-${bad}`, bad, 'http://demo-model:8080']))
  })
})

describe('the Dockerfile', () => {
  it('copies nothing that .dockerignore excludes', () => {
    const letIn = file('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    const copied = [...file('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, names]) => names?.split(' ') ?? [],
    )
    expect(
      copied.filter(
        (name) => !letIn.some((allowed) => name === allowed || name.startsWith(`${allowed}/`)),
      ),
    ).toEqual([])
  })
})

describe('docker-compose.signed.yml', () => {
  const signed = parse(file('docker-compose.signed.yml')) as {
    services: Record<string, { environment: Record<string, string>; secrets: string[] }>
    secrets: Record<string, { file: string }>
  }

  it('gives each stage the key file of its principal, and no other', () => {
    const principals = {
      ...Object.fromEntries(stageNames.map((name) => [name, name])),
      demo: 'edge',
    }
    expect(Object.keys(signed.services).toSorted()).toEqual(Object.keys(principals).toSorted())
    for (const [service, principal] of Object.entries(principals)) {
      expect(signed.services[service]).toEqual({
        environment: { WEIR_RECORD_SIGNING: `/run/secrets/${principal}` },
        secrets: [principal],
      })
      expect(signed.secrets[principal]?.file).toMatch(new RegExp(`/${principal}[.]json$`))
      expect(services[service]).toBeDefined()
    }
  })
})
