import { dirname, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { providers } from '../../../../services/llm-gateway/performer/providers/providers.ts'
import { textCallsOf } from '../../../../shared/agents/agents.ts'
import { loadAgentFile, loadAgents } from '../../../../shared/agents/file/load-agents.ts'
import { defaultPolicy, defaultSettings } from '../../../../shared/agents/policy/policy.ts'
import { declarationWith } from '../../../support/messages.ts'
import { agentFolder, environment, key, loaded, mistakesIn } from './agent-folder.ts'

const model = 'model: { provider: anthropic, name: some-model, maxOutputTokens: 1000 }'
const least = `system: Help.\n${model}\n`

describe('an agent file', () => {
  it('needs only instructions and a model; the rest has defaults', () => {
    expect(loaded({ 'a.yaml': least }).agent).toEqual({
      name: 'a',
      system: 'Help.',
      model: { provider: 'anthropic', name: 'some-model', apiKey: key, maxOutputTokens: 1000 },
      tools: [],
      settings: defaultSettings,
    })
  })

  it('can set everything about an agent', () => {
    const files = {
      'a.yaml': `
# yaml-language-server: $schema=../agent.schema.json
name: researcher
systemFile: prompt.md
model:
  provider: openai-chat
  name: some-model
  baseUrl: \${BASE}/v1
  apiKey: \${KEY}
  maxOutputTokens: 2000
  temperature: 0.5
  toolCalls: text
  endMark: missing
fallback: Sorry.
caps: { rounds: 5, calls: 6, wallMs: 7000, tokens: 8000 }
loop:
  { identicalFailures: 4, identicalSuccesses: 6, cycleLaps: 5, schemaFailures: 7, schemaFailureEndsTurn: true,
    rules: { sweep: shadow, cycle: shadow, monologue: enforce } }
empty: { beforeTools: 0, afterTools: 1, perTurn: 2 }
attempts: 2
stallMs: 60000
startWithinMs: 2000
graceMs: 0
toolTries: 1
textCalls: run
tools:
  - name: search
    description: Searches.
    schema: &query
      type: object
      properties: { query: { type: string } }
      required: [query]
    idempotent: true
    timeoutMs: 5000
    poll: true
    mutates: false
    reads: [private, untrusted]
    sends: out
    ignoreFields: [/query]
    loopKey: [query]
    denial: "{problems} Write it anew: {\\"query\\": \\"words\\"}"
    concurrency: 2
    traceparent: true
    command: [./bin/search, --data, "\${DATA}/x", "$\${not}"]
    cwd: tools
    environment: [TOKEN]
    outputBytesMax: 1000
  - name: ask
    description: Asks.
    schema: *query
    http:
      url: http://localhost:8080/ask?key=\${TOKEN}
      headers: { Authorization: "Bearer \${TOKEN}", X-Plain: yes }
      outputBytesMax: 2000
  - name: count
    description: Counts.
    schemaFile: schemas/count.json
    module: ./tools/count.ts
    environment: [DATA]
    outputBytesMax: 3000
`,
      'prompt.md': '\uFEFFYou search.\n',
      'schemas/count.json': '{ "type": "object", "properties": {} }',
      'tools/count.ts': 'throw new Error("nobody runs this while it is read")',
      'tools/bin/search': '#!/bin/sh\n',
    }
    const given = { BASE: 'http://localhost:9000', KEY: 'k-1', DATA: '/data', TOKEN: 't-1' }
    const { agent, path } = loaded(files, given)
    const query = '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}'
    expect(agent).toMatchObject({
      name: 'researcher',
      system: 'You search.\n',
      model: {
        provider: 'openai-chat',
        name: 'some-model',
        baseUrl: 'http://localhost:9000/v1',
        apiKey: 'k-1',
        maxOutputTokens: 2000,
        temperature: 0.5,
        toolCalls: 'text',
        endMark: 'missing',
      },
      textCalls: 'run',
      settings: {
        fallback: 'Sorry.',
        attempts: 2,
        stallMs: 60_000,
        policy: {
          caps: { rounds: 5, calls: 6, wallMs: 7000, tokens: 8000 },
          loop: {
            identicalFailures: 4,
            identicalSuccesses: 6,
            cycleLaps: 5,
            schemaFailures: 7,
            schemaFailureEndsTurn: true,
          },
          empty: { beforeTools: 0, afterTools: 1, perTurn: 2 },
          startWithinMs: 2000,
          graceMs: 0,
          toolTries: 1,
          shadowed: ['cycle', 'sweep'],
        },
      },
    })
    expect(agent.tools).toEqual([
      {
        declaration: {
          name: 'search',
          description: 'Searches.',
          schema: query,
          idempotent: true,
          timeoutMs: 5000,
          poll: true,
          hints: {
            mutates: false,
            ignoreFields: ['/query'],
            loopKey: ['query'],
            denial: '{problems} Write it anew: {"query": "words"}',
            labels: ['reads:private', 'reads:untrusted', 'sends:out'],
            client: false,
            once: null,
          },
        },
        run: {
          kind: 'command',
          argv: ['./bin/search', '--data', '/data/x', `\${not}`],
          cwd: join(path, 'tools'),
          environment: ['TOKEN'],
          outputBytesMax: 1000,
        },
        concurrency: 2,
        traceparent: true,
      },
      {
        declaration: declarationWith({
          name: 'ask',
          description: 'Asks.',
          schema: query,
          timeoutMs: 30_000,
        }),
        run: {
          kind: 'http',
          url: 'http://localhost:8080/ask?key=t-1',
          headers: { Authorization: 'Bearer t-1', 'X-Plain': 'yes' },
          secrets: ['t-1'],
          outputBytesMax: 2000,
        },
      },
      {
        declaration: declarationWith({
          name: 'count',
          description: 'Counts.',
          schema: '{"type":"object","properties":{}}',
          timeoutMs: 30_000,
        }),
        run: {
          kind: 'module',
          file: join(path, 'tools/count.ts'),
          environment: ['DATA'],
          outputBytesMax: 3000,
        },
      },
    ])
  })

  it('is JSON as well, with its schema named in it', () => {
    const content = {
      $schema: '../agent.schema.json',
      system: 'Help.',
      model: { provider: 'anthropic', name: 'm', maxOutputTokens: 1 },
    }
    expect(
      loaded({ 'a.json': JSON.stringify(content, null, '\t') }, environment, 'a.json').agent,
    ).toMatchObject({
      name: 'a',
      model: { name: 'm' },
    })
  })

  it.each(['off', 'tell', 'run'] as const)('can set the use of text calls: %s', (textCalls) => {
    const { agent } = loaded({ 'a.yaml': `${least}textCalls: ${textCalls}\n` })
    expect(agent.textCalls).toBe(textCalls)
    expect(textCallsOf(agent)).toBe(textCalls)
  })

  it('informs the model of text calls by default, and runs them if there are no others', () => {
    const { agent } = loaded({ 'a.yaml': least })
    expect(textCallsOf(agent)).toBe('tell')
    expect(textCallsOf({ ...agent, model: { ...agent.model, toolCalls: 'text' } })).toBe('run')
  })

  it('can change one setting and keeps the rest of the default policy', () => {
    const { settings } = loaded({ 'a.yaml': `${least}caps: { rounds: 3 }\n` }).agent
    expect(settings.policy).toEqual({
      ...defaultPolicy,
      version: expect.not.stringContaining(defaultPolicy.version),
      caps: { ...defaultPolicy.caps, rounds: 3 },
    })
  })

  it('has the default policy, with its version, if it only repeats defaults', () => {
    const { settings } = loaded({
      'a.yaml': `${least}caps: { calls: 100, rounds: 25 }\ntoolTries: 3\n`,
    }).agent
    expect(settings.policy).toEqual(defaultPolicy)
  })

  it('runs commands in its own folder if it names no other', () => {
    const tool =
      "tools: [{ name: t, description: d, schema: { type: object }, command: ['./t.sh'] }]\n"
    const { agent, path } = loaded({ 'a.yaml': least + tool, 't.sh': '#!/bin/sh\n' })
    expect(agent.tools[0]?.run).toEqual({ kind: 'command', argv: ['./t.sh'], cwd: path })
  })

  it('can be given by a path relative to the working folder', () => {
    const folder = agentFolder({ 'a.yaml': `systemFile: p.md\n${model}\n`, 'p.md': 'Help.' })
    const before = process.cwd()
    try {
      process.chdir(folder.path)
      expect(loadAgentFile('a.yaml', environment, {}, { providers }).system).toBe('Help.')
      expect([...loadAgents('.', environment, {}, { providers }).keys()]).toEqual(['a'])
    } finally {
      process.chdir(before)
      folder.remove()
    }
  })
})

describe('the key of a model', () => {
  const withModel = (rest: string) => ({
    'a.yaml': `system: x\nmodel: { name: m, maxOutputTokens: 1, ${rest} }\n`,
  })

  it.each([
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['openai-chat', 'OPENAI_API_KEY'],
  ])('comes from the usual variable of %s', (provider, variable) => {
    expect(
      loaded(withModel(`provider: ${provider}`), { [variable]: 'usual' }).agent.model.apiKey,
    ).toBe('usual')
  })

  it('is never sent to another server unless the file allows it', () => {
    const elsewhere = 'provider: anthropic, baseUrl: "http://localhost:1"'
    expect(loaded(withModel(elsewhere)).agent.model.apiKey).toBe('')
    expect(
      loaded(withModel(`${elsewhere}, apiKey: "\${ANTHROPIC_API_KEY}"`)).agent.model.apiKey,
    ).toBe(key)
  })
})

describe('a folder of agents', () => {
  it('has an agent in each of its YAML and JSON files, but not in hidden ones, schemas and subfolders', () => {
    const folder = agentFolder({
      'b.yml': least,
      'a.yaml': least,
      'c.json': JSON.stringify({
        system: 'x',
        model: { provider: 'anthropic', name: 'm', maxOutputTokens: 1 },
      }),
      '.hidden.yaml': 'x',
      'tool.schema.json': 'x',
      'README.md': 'x',
      'tools/package.json': '{}',
    })
    try {
      expect([...loadAgents(folder.path, environment, {}, { providers }).keys()]).toEqual([
        'a',
        'b',
        'c',
      ])
    } finally {
      folder.remove()
    }
  })

  it('has the agent that summarises for another one', () => {
    const files = (name: string) => ({
      'a.yaml': `${least}history: { keep: { rounds: 3 }, summarise: ${name} }\n`,
      'summariser.yaml': least,
    })
    expect(mistakesIn({ files: files('summarizer') })).toEqual([
      expect.stringMatching(
        /^a\.yaml:\d+:\d+ history\.summarise: is "summarizer", and no agent has that name; did you mean summariser\?$/,
      ),
    ])
    for (const name of ['summariser', 'drop'])
      expect(mistakesIn({ files: files(name) })).toEqual([])
  })

  it('reports the mistakes of all its files at once', () => {
    expect(
      mistakesIn({
        files: {
          'b.yaml': `${least}fallback: 1\n`,
          'a.yaml': `${least}graceMs: -1\nattempts: 0\n`,
        },
      }),
    ).toEqual([
      'a.yaml:3:10 graceMs: is -1; must be a whole number from 0 to 600000',
      'a.yaml:4:11 attempts: is 0; must be a whole number from 1 to 10',
      'b.yaml:3:11 fallback: is 1; must be a text of at most 10000 characters that is not blank',
    ])
  })

  it('cannot have two agents of one name', () => {
    expect(mistakesIn({ files: { 'a.yaml': least, 'b.yaml': `name: a\n${least}` } })).toEqual([
      'b.yaml:1:7 name: is "a", the name of the agent in a.yaml already; give it another',
    ])
  })

  it('must exist and contain an agent', () => {
    expect(mistakesIn({ files: {}, load: 'nowhere' })).toEqual(['nowhere:1:1: does not exist'])
    expect(mistakesIn({ files: { 'agent.txt': least } })).toEqual([
      '.:1:1: contains no agent file; must contain at least one file that ends in .yaml, .yml or .json',
    ])
    expect(mistakesIn({ files: { 'agent.txt': least }, load: 'agent.txt' })).toEqual([
      'agent.txt:1:1: is not an agent file; its name must end in .yaml, .yml or .json',
    ])
  })
})

describe('secrets', () => {
  it('are in no message, whether the file or the environment holds them', () => {
    const secret = 'hunter2-hunter2'
    const text = `
name: x
system: x
model: { provider: anthropic, name: m, maxOutputTokens: 1, apiKey: ${secret}, baseUrl: "ftp://\${S}@host/${secret}", apikey: ${secret} }
tools:
  - name: a
    description: d
    schema: { type: object }
    environment: [S=${secret}, S]
    http:
      url: htps://hooks.example/${secret}?key=${secret}
      headers: { Authorization: Bearer ${secret}, X-Api-Key: [${secret}], "bad ${secret}": x, X-Line: "\${LINE}" }
  - name: b
    description: d
    schemaFile: \${S}.json
    command: ["\${S}/bin", --token=${secret}]
    cwd: \${S}
  - name: c
    description: d
    schema: { type: object }
    module: \${S}
  - name: d
    description: d
    schema: { type: object }
    http: { url: "https://user:${secret}@host/" }
  - name: e
    description: d
    schema: { type: object }
    command: ["\${S}"]
`
    const mistakes = mistakesIn({
      files: { 'a.yaml': text },
      environment: { S: secret, LINE: `${secret}\nx`, PATH: '/bin' },
    })
    expect(mistakes).toHaveLength(15)
    expect(mistakes.join('\n')).not.toContain(secret)
  })

  it('are in no message of a file that is no YAML either', () => {
    const mistakes = mistakesIn({
      files: {
        'a.yaml':
          'apiKey: "hunter2\nmodel: }hunter2\n  x: |hunter2\n  - hunter2: *hunter2 hunter2\n',
      },
    })
    expect(mistakes.length).toBeGreaterThan(0)
    expect(mistakes.join('\n')).not.toContain('hunter2')
  })

  it("are replaced once: a variable's value is not expanded again", () => {
    const { agent } = loaded(
      {
        'a.yaml': `system: x\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1, baseUrl: "http://h/\${A}" }\n`,
      },
      { A: `\${B}` },
    )
    expect(agent.model.baseUrl).toBe(`http://h/\${B}`)
  })
})

it('works from any folder whose programs are in PATH', () => {
  const tool = `tools: [{ name: t, description: d, schema: { type: object }, command: [${JSON.stringify(process.execPath.split('/').at(-1))}] }]\n`
  expect(
    mistakesIn({
      files: { 'a.yaml': least + tool },
      environment: { ...environment, PATH: `/nowhere:${dirname(process.execPath)}` },
    }),
  ).toEqual([])
})

it('needs no key, no program and no file beyond the declarations for a client', () => {
  const text = `
systemFile: not-here.md
model: { provider: anthropic, name: some-model, maxOutputTokens: 1000, baseUrl: "\${NOT_SET}" }
fallback: Sorry.
tools:
  - { name: a, description: d, schemaFile: a.schema.json, command: [no-such-program], cwd: not-here, environment: [NOT_SET] }
  - { name: b, description: d, schema: { type: object }, http: { url: "\${NOT_SET}", headers: { Authorization: "\${NOT_SET}" } } }
  - { name: c, description: d, schema: { type: object }, module: not-here.ts }
`
  const files = { 'a.yaml': text, 'a.schema.json': '{ "type": "object" }' }
  expect(mistakesIn({ files, environment: {} }).length).toBeGreaterThan(6)
  const folder = agentFolder(files)
  const agent = loadAgentFile(join(folder.path, 'a.yaml'), {}, { needs: [] }, { providers })
  folder.remove()
  expect(agent).toMatchObject({
    name: 'a',
    settings: { fallback: 'Sorry.' },
    model: { apiKey: '' },
  })
  expect(
    agent.tools.map(({ declaration, run }) => [declaration.name, declaration.schema, run]),
  ).toEqual(
    ['a', 'b', 'c'].map((name) => [
      name,
      expect.stringContaining('object'),
      { kind: 'command', argv: [''] },
    ]),
  )
})
