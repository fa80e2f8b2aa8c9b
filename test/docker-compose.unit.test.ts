// docker-compose.yml, its settings and its agent files, as far as they can be checked without
// Docker. test/compose/main.ts starts it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { Command } from 'commander'
import { parse } from 'yaml'
import { addProxy } from '../apps/cli/commands/proxy.ts'
import { addServe } from '../apps/cli/commands/serve.ts'
import { badModels } from '../apps/demo/reflex-model.ts'
import { shutdownMsMax } from '../apps/service/closing.ts'
import { loadAgents } from '../client/weir.ts'
import { accessOfAll, serverPrincipals } from '../shared/bus/kafka/cluster/access-rights.ts'
import { stageNames } from '../shared/contract/topology.ts'
import { settingTable } from '../shared/settings/settings.ts'
import { kafkaImage } from './support/kafka/docker-broker.ts'

type Service = {
  command?: string[]
  environment?: Record<string, string>
  ports?: string[]
  container_name?: string
  read_only?: boolean
  image?: string
  cap_drop?: string[]
  security_opt?: string[]
  mem_limit?: string
  pids_limit?: number
  cpus?: string
  stop_grace_period?: string
  healthcheck?: object
  profiles?: string[]
  networks?: string[]
  secrets?: string[]
  depends_on?: Record<string, object>
}

const root = join(import.meta.dirname, '..')
const file = (name: string) => readFileSync(join(root, name), 'utf8')
const { services } = parse(file('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>
}
/** Clients reach them. */
const fronts = ['serve', 'proxy']
const ours = Object.entries(services).filter(([name]) => name !== 'kafka')

/** The flags of a command of Weir that the command does not have. */
function flagsUnknownTo([name = '', ...args]: string[]): string[] {
  const program = new Command()
  addServe(program)
  addProxy(program)
  const known = program.commands.find((one) => one.name() === name)?.options.map(({ long }) => long)
  return args.filter((arg) => arg.startsWith('--') && known?.includes(arg) !== true)
}

describe('docker-compose.yml', () => {
  it('has one service for each stage, with its probe', () => {
    for (const stage of stageNames)
      expect(services[stage]).toMatchObject({ command: ['up', '--stages', stage], healthcheck: {} })
    const others = ['kafka', 'topics', 'serve', 'proxy', 'demo-model', 'demo']
    expect(Object.keys(services).toSorted()).toEqual([...stageNames, ...others].toSorted())
  })

  it('starts each stage and front of a new image after its topics and schemas are stored', () => {
    const { topics } = services
    expect(topics?.command?.slice(0, 2)).toEqual(['topics', 'create'])
    for (const name of [...stageNames, ...fronts]) {
      expect(services[name]).toMatchObject({ image: topics?.image })
      expect([name, services[name]?.depends_on?.topics]).toEqual([
        name,
        { condition: 'service_completed_successfully' },
      ])
    }
  })

  it('can be scaled: no stage has a fixed name or port on the machine, and all are bounded', () => {
    for (const [, service] of ours)
      expect(service).toMatchObject({ read_only: true, mem_limit: expect.stringMatching(/^\d+m$/) })
    for (const [name, service] of ours.filter(([name]) => !fronts.includes(name)))
      expect([name, service.ports, service.container_name]).toEqual([name, undefined, undefined])
  })

  it('starts the server and the proxy with their profile only, on this machine only', () => {
    for (const name of fronts) {
      const { profiles, ports, healthcheck, networks, stop_grace_period } = services[name] ?? {}
      expect({ profiles, networks }).toEqual({ profiles: [name], networks: ['stages'] })
      expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:\$\{\w+:-\d+\}:\d+$/)])
      expect(healthcheck).toBeDefined()
      expect(Number.parseInt(stop_grace_period ?? '0', 10) * 1000).toBeGreaterThan(shutdownMsMax)
    }
  })

  it('gives the server a file of keys, and has flags that the commands know', () => {
    expect(services.serve?.command).toContain('--api-keys')
    expect(services.serve?.secrets).toEqual(['api-keys'])
    const webhook = parse(file('docker-compose.webhook.yml')) as { services: typeof services }
    for (const command of [services.serve, services.proxy, webhook.services.serve].map(
      (service) => service?.command ?? [],
    ))
      expect([command, flagsUnknownTo(command)]).toEqual([command, []])
    const [own, withWebhook] = [services.serve?.command, webhook.services.serve?.command]
    expect(withWebhook?.slice(0, own?.length)).toEqual(own)
    expect(withWebhook).toContain('--webhook-secret-file')
  })

  it('bounds the memory, processes and CPUs of each service', () => {
    for (const [name, service] of Object.entries(services))
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          mem_limit: expect.any(String),
          pids_limit: expect.any(Number),
          cpus: expect.any(String),
        }),
      ])
  })

  it('names the broker by the digest that the tests use', () => {
    expect(services.kafka?.image).toBe(`\${KAFKA_IMAGE:-${kafkaImage}}`)
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

  it('gives keys of models only to the stage that asks models', () => {
    const withKeys = ours.filter(([, { environment }]) =>
      Object.keys(environment ?? {}).some((name) => name.endsWith('_API_KEY')),
    )
    expect(withKeys.map(([name]) => name)).toEqual(['llm-gateway'])
  })

  it('lets only the executor make sandboxes, without a capability and without new privileges', () => {
    for (const [name, { security_opt, cap_drop }] of ours) {
      expect(cap_drop).toEqual(['ALL'])
      expect(security_opt).toContain('no-new-privileges:true')
      const isOpen = security_opt?.some((option) => option.endsWith('unconfined'))
      expect([name, isOpen]).toEqual([name, name === 'executor'])
    }
  })

  it('waits for a stage longer than the stage takes to stop', () => {
    for (const stage of stageNames)
      expect(Number.parseInt(services[stage]?.stop_grace_period ?? '0', 10) * 1000).toBeGreaterThan(
        shutdownMsMax,
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
  it('names its base image by digest', () => {
    const images = [...file('Dockerfile').matchAll(/^(?:ARG NODE_IMAGE=|FROM )(\S+)/gm)].map(
      ([, image]) => image,
    )
    const variable = '$' + '{NODE_IMAGE}'
    expect(images).toEqual([
      expect.stringMatching(/^node:24-bookworm-slim@sha256:[0-9a-f]{64}$/),
      variable,
      variable,
    ])
  })

  it('has bubblewrap for the sandboxes, and runs as a user that is not root', () => {
    const [, image = ''] = file('Dockerfile').split(/^FROM .* AS dependencies$/m)
    expect(image).toMatch(/^RUN .*apt-get install .*\bbubblewrap\b/m)
    expect(file('Dockerfile').match(/^USER .*$/gm)).toEqual(['USER 1000:1000'])
  })

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
    services: Record<
      string,
      {
        environment: Record<string, string>
        secrets: (string | { source: string; target: string })[]
      }
    >
    secrets: Record<string, { file: string }>
  }

  it('gives each stage the key file of its principal, and no other', () => {
    const principals = {
      ...Object.fromEntries(stageNames.map((name) => [name, name])),
      topics: 'operator',
      demo: 'edge',
      proxy: 'front',
    }
    const { serve, ...others } = signed.services
    expect(Object.keys(others).toSorted()).toEqual(Object.keys(principals).toSorted())
    for (const [service, principal] of Object.entries(principals)) {
      expect(signed.services[service]).toEqual({
        environment: { WEIR_RECORD_SIGNING: `/run/secrets/${principal}` },
        secrets: [principal],
      })
      expect(signed.secrets[principal]?.file).toMatch(new RegExp(`/${principal}[.]json$`))
      expect(services[service]).toBeDefined()
    }
    // A folder of keys: the server signs messages and decisions.
    expect(serve).toEqual({
      environment: { WEIR_RECORD_SIGNING: '/run/record-keys' },
      secrets: serverPrincipals.serve.map((principal) => ({
        source: principal,
        target: `/run/record-keys/${principal}.json`,
      })),
    })
    for (const principal of serverPrincipals.serve)
      expect(signed.secrets[principal]?.file).toMatch(new RegExp(`/${principal}[.]json$`))
  })
})

describe('docker-compose.users.yml', () => {
  const text = file('docker-compose.users.yml')
  const { services: own, secrets } = parse(text) as {
    services: Record<string, Service & { secrets: string[]; network_mode?: string }>
    secrets: Record<string, { file: string }>
  }
  const principals = {
    ...Object.fromEntries(stageNames.map((name) => [name, name])),
    topics: 'operator',
    demo: 'edge',
    serve: 'serve',
    proxy: 'front',
  }

  it('gives each service of Weir the user of its principal, and no other', () => {
    for (const [service, principal] of Object.entries(principals)) {
      const secret = `user-${principal}`
      expect(own[service]).toMatchObject({
        environment: { WEIR_COMMAND_CONFIG: `/run/secrets/${secret}` },
        secrets: [secret],
      })
      expect(secrets[secret]?.file).toMatch(new RegExp(`/${principal}[.]properties$`))
      expect(services[service]).toBeDefined()
    }
    const others = Object.keys(own).filter((name) => !(name in principals))
    expect(others).toEqual(['kafka', 'acls', 'users'])
  })

  it('opens the listeners without a password inside the broker only, and the others with SASL', () => {
    const listeners = own.kafka?.environment ?? {}
    const protocols = (listeners.KAFKA_LISTENER_SECURITY_PROTOCOL_MAP ?? '').split(',')
    for (const [name, protocol] of protocols.map((one) => one.split(':'))) {
      const isLocal = listeners.KAFKA_LISTENERS?.includes(`${name}://localhost:`)
      expect([name, protocol]).toEqual([name, isLocal ? 'PLAINTEXT' : 'SASL_PLAINTEXT'])
    }
    expect(listeners).toMatchObject({
      KAFKA_SUPER_USERS: 'User:ANONYMOUS',
      KAFKA_AUTHORIZER_CLASS_NAME: expect.stringMatching(/StandardAuthorizer$/),
    })
  })

  it('has a user file for each principal that weir topics acls prints without a guard', () => {
    const script = file('deploy/create-users.sh').replaceAll(/\\\n/g, '')
    const [, made = ''] = /^for principal in (.*) "\$@"; do$/m.exec(script) ?? []
    const all = accessOfAll('weir.', []).map(({ principal }) => principal)
    expect(made.split(/\s+/).toSorted()).toEqual(all.toSorted())
  })
})
