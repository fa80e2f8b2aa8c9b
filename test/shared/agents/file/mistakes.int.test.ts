// Every kind of mistake in an agent file, with its whole message.

import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import { environment, mistakesIn } from './agent-folder.ts'

const top = 'system: x\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1 }\n'
const files = {
  'latin1.md': Buffer.from('\u00e9', 'latin1'),
  'there.sh': '#!/bin/sh\n',
  'there.mjs': '',
  'plain.txt': 'x',
  'blank.md': ' \n',
  'folder/x': '',
  'list.json': '[]',
  'broken.json': '{"type": }',
}

/** In a file that is valid without these lines. They begin in its third line. */
function of(lines: string, given: NodeJS.ProcessEnv = environment): string[] {
  return mistakesIn({
    files: { ...files, 'a.yaml': `${top}${lines}\n` },
    environment: given,
    load: 'a.yaml',
  })
}

/** In a tool that is valid otherwise. It is in the fourth line, from column 5. */
function ofTool(
  rest: string,
  schema = 'schema: { type: object }',
  given: NodeJS.ProcessEnv = environment,
): string[] {
  return of(`tools:\n  - { name: t, description: d, ${schema}, ${rest} }`, given).map((line) =>
    line.replace(/^a\.yaml:4:\d+ /, ''),
  )
}

/** In a file with only this content. */
function ofFile(content: string | Uint8Array, name = 'a.yaml'): string[] {
  return mistakesIn({ files: { ...files, [name]: content }, load: name })
}

it.each(['off', 'tell'])('textCalls: %s is refused if the model has no native calls', (textCalls) =>
  expect(
    ofFile(`${top.replace('Tokens: 1', 'Tokens: 1, toolCalls: text')}textCalls: ${textCalls}\n`),
  ).toEqual([
    `a.yaml:3:12 textCalls: is ${textCalls}; must be run with model.toolCalls: text, because that model has no other calls`,
  ]),
)

describe('the text of the file', () => {
  it.each<[string, string, string[]]>([
    ['nothing', '', ['a.yaml:1:1: is empty; must be a mapping with name, system, model and tools']],
    [
      'only a comment',
      '# x\n',
      ['a.yaml:1:1: is empty; must be a mapping with name, system, model and tools'],
    ],
    [
      'a list',
      '- x\n',
      [
        'a.yaml:1:1: is a list of 1; must be a mapping with model, system (or systemFile) and the other keys of an agent',
      ],
    ],
    [
      'a text',
      'x\n',
      [
        'a.yaml:1:1: is "x"; must be a mapping with model, system (or systemFile) and the other keys of an agent',
      ],
    ],
    ['a tab', `${top}caps:\n\trounds: 1\n`, ['a.yaml:4:1: is indented by a tab; use spaces']],
    [
      'two documents',
      `${top}---\n${top}`,
      ['a.yaml:3:1: has a second document from here on; write one agent into each file'],
    ],
    [
      'a tag',
      `${top}name: !secret x\n`,
      [
        'a.yaml:3:7: has a tag (!...), which has no meaning here; remove it, or put quotes around the text',
      ],
    ],
    [
      'a directive',
      `%TAGS x\n---\n${top}`,
      ['a.yaml:1:1: has a directive (%...), which has no meaning here; remove it'],
    ],
    ['no closing quote', 'system: "x\n', ['a.yaml:2:1: is not YAML: missing closing "quote']],
    [
      'a key in a key',
      'system: x: y\n',
      ['a.yaml:1:9: is not YAML: nested mappings are not allowed in compact mappings'],
    ],
    [
      'a key that is a list',
      `${top}? [a]\n: b\n`,
      ['a.yaml:3:3: is not YAML: with stringKeys, all keys must be strings'],
    ],
    [
      'a variable in brackets without quotes',
      `${top}tools: [{ name: t, description: d, schema: { type: object }, command: [there.sh, \${TOKEN}] }]\n`,
      [
        `a.yaml:3:83: is not YAML: missing , or : between flow sequence items (inside of [ ] and { }, put quotes around "\${NAME}")`,
      ],
    ],
    [
      'no number',
      `${top}attempts: .inf\n`,
      [
        'a.yaml:3:11 attempts: is not a number that JSON can hold',
        'a.yaml:3:11 attempts: is Infinity; must be a whole number from 1 to 10',
      ],
    ],
    [
      'half a character',
      `${top}fallback: "\\ud800"\n`,
      ['a.yaml:3:11 fallback: has half of a surrogate pair (\\ud800 to \\udfff) in it'],
    ],
  ])('must not be %s', (_, content, expected) => {
    expect(ofFile(content)).toEqual(expected)
  })

  it('cannot have a tool of a client that must not run twice in the tenant', () => {
    const once = (within: string) => ofTool(`once: { within: ${within} }, client: true`)
    expect(once('conversation')).toEqual([])
    expect(once('tenant')).toEqual([
      'tools[0].once.within: is "tenant", and a client runs the tool, so Weir cannot free the values of a failed call; remove within, or let Weir run the tool',
    ])
    expect(once('planet')[0]).toContain('must be conversation or tenant')
  })

  it('may give each key only once', () => {
    expect(of('attempts: 1\nsystem: y\ncaps: { rounds: 1, rounds: 2 }')).toEqual([
      'a.yaml:4:1 system: is given twice, first in line 1; keep one',
      'a.yaml:5:20 caps.rounds: is given twice, first in line 5; keep one',
    ])
  })

  it('may repeat a part by alias, but not a missing part, a part inside itself, or too many parts', () => {
    const bomb = ['x'.repeat(9), ...'abcd'].map(
      (_, level) =>
        `    k${level}: &k${level} [${Array.from({ length: 9 }, () => (level === 0 ? '1' : `*k${level - 1}`)).join(', ')}]`,
    )
    const tool = (schema: string) =>
      of(`tools:\n- name: t\n  description: d\n  command: [./there.sh]\n  schema:\n${schema}`)
    expect(of('fallback: &f x y\nname: *g')).toEqual([
      'a.yaml:4:7 name: refers to &g, which is not above; write the value itself',
    ])
    expect(tool('    type: object\n    default: &d [*d]')).toEqual([
      'a.yaml:9:18 tools[0].schema.default[0]: refers to &d, which contains it',
    ])
    expect(tool(`    type: object\n${bomb.join('\n')}`)).toEqual([
      'a.yaml:10:14: its aliases stand for too much; repeat at most 100 parts by alias',
    ])
  })

  it('may not be nested too deeply', () => {
    expect(ofFile(`system: ${'['.repeat(20_000)}`)[0]).toMatch(
      /^a\.yaml:1:\d+: is nested deeper than 136 levels$/,
    )
    expect(ofFile(`{"system": ${'['.repeat(200)}`, 'a.json')).toEqual([
      'a.json:1:147: is nested deeper than 136 levels',
    ])
  })

  it('must be JSON if its name ends in .json', () => {
    expect(ofFile('{"system": "x",\n "name": a}', 'a.json')).toEqual([
      'a.json:2:10: is not JSON from here on',
    ])
    expect(ofFile('{"system": "x"', 'a.json')).toEqual(['a.json:1:15: ends inside its JSON'])
    expect(
      ofFile(
        '{"system": "x",\n"system": "y", "model": {"provider": "anthropic", "name": "m", "maxOutputTokens": 1}}',
        'a.json',
      ),
    ).toEqual(['a.json:2:1 system: is given twice, first in line 1; keep one'])
  })

  it('must be UTF-8, and not too long', () => {
    expect(ofFile(Buffer.from('# \u00e9\n# x\nsystem: \u00e9\n', 'latin1'))).toEqual([
      'a.yaml:1:1: is not UTF-8; save it as UTF-8',
    ])
    expect(ofFile(Buffer.concat([Buffer.from('# \u00e9\n#\n# '), Buffer.from([0xff])]))).toEqual([
      'a.yaml:3:1: is not UTF-8; save it as UTF-8',
    ])
    expect(ofFile(Buffer.from(`\uFEFF${top}`, 'utf16le'))).toEqual([
      'a.yaml:1:1: is not UTF-8; save it as UTF-8',
    ])
    expect(ofFile(`#${'x'.repeat(limits.agentFileBytesMax)}`)).toEqual([
      'a.yaml:1:1: has 1048577 bytes; must have at most 1048576',
    ])
  })

  it('has one line for each mistake, at most a hundred', () => {
    const lines = of(Array.from({ length: 150 }, (_, i) => `k${i}: 1`).join('\n'))
    expect(lines).toHaveLength(101)
    expect(lines.at(-1)).toBe('and 50 more')
    expect(of('"a\\nb\\e[2J\\u202E": 1')[0]).toMatch(
      /^a\.yaml:3:1 a\\u\{a\}b\\u\{1b\}\[2J\\u\{202e\}: is an unknown key; keys here: /,
    )
  })
})

describe('an agent', () => {
  const keys =
    'name, system, systemFile, model, fallback, caps, tree, loop, empty, attempts, stallMs, firstByteMs, startWithinMs, graceMs, toolTries, textCalls, redact, history, sandbox, tools, mcp, trust, guest, record and hints'

  it.each<[string, string[]]>([
    ['colour: red', [`a.yaml:3:1 colour: is an unknown key; keys here: ${keys}`]],
    ['Fall_back: x', ['a.yaml:3:1 Fall_back: is an unknown key; did you mean fallback?']],
    ['__proto__: { name: x }', [`a.yaml:3:1 __proto__: is an unknown key; keys here: ${keys}`]],
    ['toString: x', [`a.yaml:3:1 toString: is an unknown key; keys here: ${keys}`]],
    [
      'name: My Agent',
      ['a.yaml:3:7 name: is "My Agent"; must be 1 to 64 of a-z, 0-9 and -, not beginning with -'],
    ],
    [
      'name:',
      ['a.yaml:3:1 name: is empty; must be 1 to 64 of a-z, 0-9 and -, not beginning with -'],
    ],
    [
      'tools:\n  - { name: ask, description: d, schema: { type: object }, agent: worker }',
      [
        'a.yaml:4:5 tools[0]: has schema and agent; must have only one of them',
        'a.yaml:4:67 tools[0].agent: is "worker", and no agent has that name; must be an agent of these files',
      ],
    ],
    [
      'tools:\n  - { name: ask, description: d, agent: worker, idempotent: true, timeoutMs: 9 }',
      [
        'a.yaml:4:41 tools[0].agent: is "worker", and no agent has that name; must be an agent of these files',
        'a.yaml:4:61 tools[0].idempotent: follows from the agent; remove it',
        'a.yaml:4:78 tools[0].timeoutMs: follows from the agent; remove it',
      ],
    ],
    [
      'name: itself\ntools:\n  - { name: ask, description: d, agent: itself }',
      [
        'a.yaml:5:41 tools[0].agent: is "itself", which asks itself again; must lead to other agents',
      ],
    ],
    ['systemFile: blank.md', ['a.yaml:1:1: has system and systemFile; must have only one of them']],
    [
      'fallback: " "',
      [
        'a.yaml:3:11 fallback: is " "; must be a text of at most 10000 characters that is not blank',
      ],
    ],
    ['attempts: 1.5', ['a.yaml:3:11 attempts: is 1.5; must be a whole number from 1 to 10']],
    ['attempts: 1_0', ['a.yaml:3:11 attempts: is "1_0"; must be a whole number from 1 to 10']],
    ['stallMs: 5m', ['a.yaml:3:10 stallMs: is "5m"; must be a whole number from 1 to 86400000']],
    [
      'startWithinMs: 0',
      ['a.yaml:3:16 startWithinMs: is 0; must be a whole number from 1 to 600000'],
    ],
    [
      'graceMs: 600001',
      ['a.yaml:3:10 graceMs: is 600001; must be a whole number from 0 to 600000'],
    ],
    ['toolTries: many', ['a.yaml:3:12 toolTries: is "many"; must be a whole number from 1 to 100']],
    ['textCalls: ask', ['a.yaml:3:12 textCalls: is "ask"; must be off, tell or run']],
    ['caps: 5', ['a.yaml:3:7 caps: is 5; must be a mapping of rounds, calls, wallMs and tokens']],
    [
      'caps:\n  rounds: 1001',
      ['a.yaml:4:11 caps.rounds: is 1001; must be a whole number from 1 to 1000'],
    ],
    [
      'caps:\n  calls: 10001',
      ['a.yaml:4:10 caps.calls: is 10001; must be a whole number from 1 to 10000'],
    ],
    [
      'caps:\n  wallMs: 86400001',
      ['a.yaml:4:11 caps.wallMs: is 86400001; must be a whole number from 1 to 86400000'],
    ],
    [
      'caps:\n  wallSeconds: 5',
      [
        'a.yaml:4:3 caps.wallSeconds: is an unknown key; keys here: rounds, calls, wallMs and tokens',
      ],
    ],
    [
      'caps:\n  tokens: null',
      ['a.yaml:4:11 caps.tokens: is empty; must be a whole number from 1 to 9007199254740991'],
    ],
    [
      'loop:\n  identicalFailure: 2',
      ['a.yaml:4:3 loop.identicalFailure: is an unknown key; did you mean identicalFailures?'],
    ],
    [
      'loop:\n  cycleLaps: 0',
      ['a.yaml:4:14 loop.cycleLaps: is 0; must be a whole number from 1 to 1000'],
    ],
    [
      'loop:\n  rules: { cycles: shadow }',
      ['a.yaml:4:12 loop.rules.cycles: is an unknown key; did you mean cycle?'],
    ],
    [
      'loop:\n  rules: { cycle: shadowed }',
      [
        'a.yaml:4:19 loop.rules.cycle: is "shadowed"; must be enforce or shadow (did you mean shadow?)',
      ],
    ],
    [
      'loop:\n  schemaFailureEndsTurn: yes',
      ['a.yaml:4:26 loop.schemaFailureEndsTurn: is "yes"; must be true or false'],
    ],
    [
      'empty:\n  perTurn: -1',
      ['a.yaml:4:12 empty.perTurn: is -1; must be a whole number from 0 to 1000'],
    ],
    ['tools: {}', ['a.yaml:3:8 tools: is a mapping; must be a list of at most 512 tools']],
    ['tools:', ['a.yaml:3:1 tools: is empty; must be a list of at most 512 tools']],
    [
      'mcp: { x: { command: [node], url: http://127.0.0.1 } }',
      ['a.yaml:3:8 mcp.x: has command and url; must have only one of them'],
    ],
    [
      'mcp: { x: { url: ftp://host } }',
      [
        'a.yaml:3:18 mcp.x.url: is "ftp://host", not an http or https URL; must be one, as in https://host/path',
      ],
    ],
    [
      'mcp: { x: { url: http://127.0.0.1, timeoutMs: 9, wallMs: 3 } }',
      ['a.yaml:3:58 mcp.x.wallMs: is 3, less than timeoutMs, 9; must be at least that'],
    ],
    [
      'mcp: { x: { url: http://127.0.0.1 } }\ntrust: [y]',
      ['a.yaml:4:9 trust[0]: is "y", and there is no such server; did you mean x?'],
    ],
    [
      'mcp: { X_Y: { command: [node] } }',
      ['a.yaml:3:1 mcp: has a key that is no name of a server; must be 1 to 32 of a-z, 0-9 and -'],
    ],
    [
      'mcp: { x: { command: [node], env: [NOT_SET_HERE] } }',
      ['a.yaml:3:36 mcp.x.env[0]: needs the variable NOT_SET_HERE, which is not set; set it'],
    ],
  ])('refuses %j', (lines, expected) => {
    expect(of(lines)).toEqual(expected)
  })

  it('needs instructions and a model', () => {
    expect(ofFile('name: x\n')).toEqual([
      'a.yaml:1:1: has none of system and systemFile; must have one of them',
      'a.yaml:1:1 model: is missing; must be a mapping with provider and name',
    ])
  })

  it('has no message for a consequence of another mistake', () => {
    const model = 'model: { provider: anthropic, name: m, maxOutputTokens: 1, apiKey: sk-1 }'
    expect(
      mistakesIn({
        files: {
          'My Agent.yaml': `name: My Agent\nsystem: x\n${model}\n`,
          'b.yaml': `name: 5\n${top}`,
        },
        environment: {},
      }),
    ).toEqual([
      'My Agent.yaml:1:7 name: is "My Agent"; must be 1 to 64 of a-z, 0-9 and -, not beginning with -',
      `My Agent.yaml:3:68 model.apiKey: cannot be used; must be the variable that holds the key, as \${NAME}, or its file, as \${file:PATH}: a key is never written into the file`,
      'b.yaml:1:7 name: is 5; must be 1 to 64 of a-z, 0-9 and -, not beginning with -',
      `b.yaml:3:1 model.apiKey: is missing, and the variable ANTHROPIC_API_KEY is not set or empty; set it, or name another one: apiKey: \${NAME}`,
    ])
  })

  it('gets its name from the file only if that is a valid name', () => {
    expect(ofFile(top, 'My Agent.yaml')).toEqual([
      'My Agent.yaml:1:1 name: is missing, and the file\'s name "My Agent" cannot stand in; must be 1 to 64 of a-z, 0-9 and -',
    ])
  })

  it.each<[string, string]>([
    ['nowhere.md', 'does not exist; paths start at the folder of this file'],
    ['plain.txt/x', 'does not exist; paths start at the folder of this file'],
    ['folder', 'is not a file'],
    ['blank.md', 'is blank'],
    ['latin1.md', 'is not UTF-8; save it as UTF-8'],
  ])('must have its instructions in an existing file, not in %j', (file, why) => {
    const content = `systemFile: ${file}\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1 }\n`
    expect(ofFile(content)).toEqual([`a.yaml:1:13 systemFile: refers to "${file}", which ${why}`])
  })
})

describe('a model', () => {
  const ofModel = (rest: string, given: NodeJS.ProcessEnv = environment) =>
    mistakesIn({
      files: { 'a.yaml': `system: x\nmodel:\n  name: m\n  ${rest}\n` },
      environment: given,
    })

  it('has a provider and a name', () => {
    expect(ofFile('system: x\nmodel: {}\n')).toEqual([
      'a.yaml:2:1 model.provider: is missing; must be anthropic, openai-chat, openai-responses or gemini',
      `a.yaml:2:1 model.name: is missing; must be the provider's name of a model, without spaces and without \${...}`,
    ])
  })

  it.each<[string, string[]]>([
    [
      'provider: antropic',
      [
        'a.yaml:5:13 model.provider: is "antropic"; must be anthropic, openai-chat, openai-responses or gemini (did you mean anthropic?)',
      ],
    ],
    [
      'provider: mistral',
      [
        'a.yaml:5:13 model.provider: is "mistral"; must be anthropic, openai-chat, openai-responses or gemini',
      ],
    ],
    [
      'provider: anthropic\n  temperature: hot',
      ['a.yaml:6:16 model.temperature: is "hot"; must be a number from 0 to 2'],
    ],
    [
      'provider: anthropic\n  max_tokens: 5',
      ['a.yaml:6:3 model.max_tokens: is an unknown key; did you mean maxOutputTokens?'],
    ],
    [
      'provider: anthropic\n  apiKey: sk-1',
      [
        `a.yaml:6:11 model.apiKey: cannot be used; must be the variable that holds the key, as \${NAME}, or its file, as \${file:PATH}: a key is never written into the file`,
      ],
    ],
    [
      `provider: anthropic\n  apiKey: \${NOPE}`,
      ['a.yaml:6:11 model.apiKey: needs the variable NOPE, which is not set; set it'],
    ],
    [
      `provider: anthropic\n  apiKey: \${TOKENS}`,
      [
        'a.yaml:6:11 model.apiKey: needs the variable TOKENS, which is not set; set it, or did you mean TOKEN?',
      ],
    ],
    [
      'provider: anthropic\n  baseUrl: localhost:8080',
      [
        'a.yaml:6:12 model.baseUrl: is "localhost:8080", not an http or https URL; must be one, as in https://host/path',
      ],
    ],
    [
      'provider: anthropic\n  baseUrl: //host/path',
      [
        'a.yaml:6:12 model.baseUrl: is "//host", not an http or https URL; must be one, as in https://host/path',
      ],
    ],
    [
      'provider: anthropic\n  baseUrl: https://me:secret@host/',
      [
        'a.yaml:6:12 model.baseUrl: contains a user or a password; must contain none, use a header for them',
      ],
    ],
    [
      `provider: anthropic\n  baseUrl: https://\${EMPTY}/`,
      ['a.yaml:6:12 model.baseUrl: needs the variable EMPTY, which is empty'],
    ],
    [
      'provider: anthropic\n  baseUrl: 7',
      ['a.yaml:6:12 model.baseUrl: is a number; must be an http or https URL'],
    ],
    [
      `provider: anthropic\n  apiKey: \${LINE}`,
      [
        "a.yaml:6:11 model.apiKey: holds a space, a line end or another character that a key cannot have; correct the variable's value",
      ],
    ],
    [
      'provider: openai-chat',
      [
        `a.yaml:2:1 model.apiKey: is missing, and the variable OPENAI_API_KEY is not set or empty; set it, or name another one: apiKey: \${NAME}`,
      ],
    ],
  ])('refuses %j', (lines, expected) => {
    expect(
      ofModel(`maxOutputTokens: 1\n  ${lines}`, { ...environment, EMPTY: '', LINE: 'k\n' }),
    ).toEqual(expected)
  })
})

describe('a tool', () => {
  const run = 'command: [./there.sh]'

  it('has a name, a description, a schema and one way to run', () => {
    expect(of('tools:\n  - {}\n  - 5')).toEqual([
      'a.yaml:4:5 tools[0]: has none of schema, schemaFile and agent; must have one of them',
      'a.yaml:4:5 tools[0]: has none of command, http, module, agent and client; must have one of them',
      'a.yaml:4:5 tools[0].name: is missing; must be 1 to 64 of A-Z, a-z, 0-9, _ and -',
      'a.yaml:4:5 tools[0].description: is missing; must be a text of at most 16384 characters that is not blank',
      'a.yaml:5:5 tools[1]: is 5; must be a mapping with name, description, schema (or schemaFile) and one of command, http, module, client; or with name, description and agent',
    ])
    expect(ofTool(`${run}, http: { url: "http://h" }`)).toEqual([
      'tools[0]: has command and http; must have only one of them',
    ])
    expect(ofTool(run, 'schema: { type: object }, schemaFile: x')).toEqual([
      'tools[0]: has schema and schemaFile; must have only one of them',
    ])
  })

  it('must have a unique name', () => {
    const tool = (name: string) =>
      `  - { name: ${name}, description: d, schema: { type: object }, ${run} }\n`
    expect(of(`tools:\n${tool('a')}${tool('b')}${tool('a')}${tool('a b')}${tool('a')}`)).toEqual([
      'a.yaml:6:13 tools[2].name: is "a", the name of tools[0] already; give it another',
      'a.yaml:7:13 tools[3].name: is "a b"; must be 1 to 64 of A-Z, a-z, 0-9, _ and -',
      'a.yaml:8:13 tools[4].name: is "a", the name of tools[0] already; give it another',
    ])
  })

  it.each<[string, string[]]>([
    [`${run}, timeout: 5`, ['tools[0].timeout: is an unknown key; did you mean timeoutMs?']],
    [
      `${run}, timeoutMs: 3600001`,
      ['tools[0].timeoutMs: is 3600001; must be a whole number from 1 to 3600000'],
    ],
    [`${run}, idempotent: 1`, ['tools[0].idempotent: is 1; must be true or false']],
    [`${run}, poll: no`, ['tools[0].poll: is "no"; must be true or false']],
    [
      `${run}, reads: secret`,
      ['tools[0].reads: is "secret"; must be private, untrusted, or a list of both'],
    ],
    [`${run}, sends: in`, ['tools[0].sends: is "in"; must be out']],
    [`${run}, mutates: maybe`, ['tools[0].mutates: is "maybe"; must be true or false']],
    [
      `${run}, loopKey: []`,
      ['tools[0].loopKey: is a list of 0; must be a list of 1 to 32 names of fields, as in [url]'],
    ],
    [
      `${run}, ignoreFields: why`,
      [
        'tools[0].ignoreFields: is "why"; must be a list of 1 to 32 names of fields, as in [reason]',
      ],
    ],
    [
      `${run}, denial: " "`,
      ['tools[0].denial: is " "; must be a text of at most 4096 characters that is not blank'],
    ],
    [
      `${run}, denial: "{problem} {sent} {x}"`,
      [
        'tools[0].denial: has the placeholder {problem}; did you mean {problems}?',
        'tools[0].denial: has the placeholder {x}; there are {problems}, {accepted}, {sent} and {tool}',
      ],
    ],
    [
      'client: true, concurrency: 2',
      ['tools[0].concurrency: has no effect on a tool with client; remove it'],
    ],
    ['client: false', ['tools[0].client: is false; must be true']],
    [`${run}, client: true`, ['tools[0]: has command and client; must have only one of them']],
    [
      'module: ./m.mjs, traceparent: true',
      [
        'tools[0].module: refers to "./m.mjs", which does not exist; paths start at the folder of this file',
        'tools[0].traceparent: is true, but only a tool with command or http can get it; remove it',
      ],
    ],
    [
      `${run}, concurrency: 17`,
      ['tools[0].concurrency: is 17; must be a whole number from 1 to 16'],
    ],
    [
      'http: { url: "http://h" }, cwd: x',
      ['tools[0].cwd: goes with command or module only; remove it'],
    ],
    [
      'http: { url: "http://h" }, environment: [TOKEN]',
      ['tools[0].environment: goes with command or module only; remove it'],
    ],
    [
      'http: { url: "http://h" }, outputBytesMax: 5',
      ['tools[0].outputBytesMax: goes with command or module only; remove it'],
    ],
    [
      'http: { url: "http://h" }, sandbox: default',
      ['tools[0].sandbox: goes with command or module only; remove it'],
    ],
    [
      `${run}, sandbox: on`,
      [
        'tools[0].sandbox: is "on"; must be default, off, or a mapping of read, write, network, memory, processes and cpuSeconds',
      ],
    ],
    [
      `${run}, sandbox: { reads: [.] }`,
      ['tools[0].sandbox.reads: is an unknown key; did you mean read?'],
    ],
    [
      `${run}, sandbox: { read: [missing, .], write: [../nowhere] }`,
      [
        'tools[0].sandbox.read[0]: refers to "missing", which does not exist; paths start at the folder of this file',
        'tools[0].sandbox.write[0]: refers to "../nowhere", which does not exist; paths start at the folder of this file',
      ],
    ],
    [
      `${run}, sandbox: { write: [., ..] }`,
      ['".", which', '"..", which'].map(
        (name, index) =>
          `tools[0].sandbox.write[${index}]: refers to ${name} holds the agent file; must be a folder without one, as files`,
      ),
    ],
    [
      `${run}, sandbox: { network: some }`,
      [
        'tools[0].sandbox.network: is "some"; must be none, all, or a list of at most 64 hosts, as in [api.example.com, \'*.example.org:8443\']',
      ],
    ],
    [
      `${run}, sandbox: { network: ["https://a.example", "a.example/x", "a b", "*"] }`,
      ['"https://a.example"', '"a.example/x"', '"a b"', '"*"'].map(
        (host, index) =>
          `tools[0].sandbox.network[${index}]: is ${host}; must be a host without a scheme or path, as in api.example.com:443`,
      ),
    ],
    [
      `${run}, sandbox: { memory: 512MB, processes: 0 }`,
      [
        'tools[0].sandbox.memory: is "512MB"; must be a size of at least 1MiB, as in 512MiB',
        'tools[0].sandbox.processes: is 0; must be a whole number from 1 to 65536',
      ],
    ],
    [
      `${run}, sandbox: { memory: 1000KiB }`,
      ['tools[0].sandbox.memory: is "1000KiB"; must be a size of at least 1MiB, as in 512MiB'],
    ],
  ])('refuses %j', (rest, expected) => {
    expect(ofTool(rest)).toEqual(expected)
  })
})

describe('the fields that a tool names for rules and guards', () => {
  const listing =
    'schema: { type: object, properties: { url: { type: string }, reason: { type: string } } }'
  const deep = `schema: ${JSON.stringify({
    type: 'object',
    properties: {
      meta: { type: 'object', properties: { why: { type: 'string' } } },
      files: { type: 'array', items: { $ref: '#/$defs/file' } },
      tags: { type: 'array', items: { type: 'string' } },
      any: { type: 'object', properties: { x: {} }, additionalProperties: true },
      free: {},
      self: { $ref: '#/$defs/self' },
    },
    $defs: {
      file: { type: 'object', properties: { why: { type: 'string' } } },
      self: {
        type: 'object',
        properties: {
          self: { $ref: '#/$defs/self' },
          meta: { type: 'object', properties: { why: {} } },
        },
      },
    },
  })}`
  const beside = `schema: ${JSON.stringify({
    type: 'object',
    properties: {
      both: { $ref: '#/$defs/file', properties: { extra: { type: 'string' } } },
      closed: { $ref: '#/$defs/file', description: 'A file.', unevaluatedProperties: false },
    },
    $defs: { file: { type: 'object', properties: { why: { type: 'string' } } } },
  })}`
  const open =
    'schema: { type: object, properties: { url: { type: string } }, anyOf: [{ required: [url] }] }'

  it.each<[string, string, string[]]>([
    [listing, 'loopKey: [url, /url], ignoreFields: [reason]', []],
    [
      deep,
      'ignoreFields: [/meta/why, /files/*/why, /files/0/why, /tags/0, /any/thing, /free/*/x, /self/self/meta/why]',
      [],
    ],
    [
      deep,
      'ignoreFields: [/meta/wy, /mta/why, /files/why, /files/*/path, /tags/*/x, /meta/a~b, /self/self/meta/x]',
      [
        ['"/meta/wy", which the schema of the tool does not have; did you mean /meta/why?'],
        ['"/mta/why", which the schema of the tool does not have; did you mean /meta?'],
        [
          '"/files/why", which the schema of the tool does not have; /files is a list, whose items are /files/*',
        ],
        ['"/files/*/path", which the schema of the tool does not have; there is /files/*/why'],
        ['"/tags/*/x", which the schema of the tool does not have; /tags/* has no fields'],
        ['"/meta/a~b", which is not a JSON pointer; in a name write ~0 for ~ and ~1 for /'],
        [
          '"/self/self/meta/x", which the schema of the tool does not have; there is /self/self/meta/why',
        ],
      ].map(([text], index) => `tools[0].ignoreFields[${index}]: is ${text}`),
    ],
    [open, 'ignoreFields: [whatever]', []],
    [beside, 'ignoreFields: [/both/why, /both/extra, /closed/why]', []],
    [
      beside,
      'ignoreFields: [/closed/wy]',
      [
        'tools[0].ignoreFields[0]: is "/closed/wy", which the schema of the tool does not have; did you mean /closed/why?',
      ],
    ],
    [
      'schema: { type: object, properties: { url: { type: string } }, unevaluatedProperties: true }',
      'ignoreFields: [whatever]',
      [],
    ],
    [
      'schema: { type: object, properties: { url: { type: string } }, unevaluatedProperties: false }',
      'loopKey: [urls]',
      [
        'tools[0].loopKey[0]: is "urls", which the schema of the tool does not have; did you mean url?',
      ],
    ],
    [
      listing,
      'loopKey: [urls, topic]',
      [
        'tools[0].loopKey[0]: is "urls", which the schema of the tool does not have; did you mean url?',
        'tools[0].loopKey[1]: is "topic", which the schema of the tool does not have; must be one of its fields, or a JSON pointer',
      ],
    ],
    [
      listing,
      'ignoreFields: [""]',
      [
        'tools[0].ignoreFields[0]: is ""; must be the name of a field, or a JSON pointer of at most 256 characters',
      ],
    ],
  ])('must be those of its schema: %s, %s', (schema, hints, expected) => {
    expect(ofTool(`command: [./there.sh], ${hints}`, schema)).toEqual(expected)
  })
})

describe('the schema of a tool', () => {
  const ofSchema = (schema: string) => ofTool('command: [./there.sh]', schema)

  it.each<[string, string[]]>([
    [
      'schema: text',
      ['tools[0].schema: is "text"; must be a mapping: the JSON Schema of the arguments'],
    ],
    ['schema: {}', ['tools[0].schema: is not the schema of an object; must have type: object']],
    [
      'schema: { type: array }',
      ['tools[0].schema.type: is not the schema of an object; must have type: object'],
    ],
    [
      'schema: { type: object, properties: { a: { type: sting }, b: { minLength: -1 } }, required: a }',
      [
        'tools[0].schema.properties.a.type: is "sting", which a JSON Schema cannot have here; must be array, boolean, integer, null, number, object or string (did you mean string?)',
        'tools[0].schema.properties.b.minLength: is -1, which a JSON Schema cannot have here; must be >= 0',
        'tools[0].schema.required: is "a", which a JSON Schema cannot have here; must be a list',
      ],
    ],
    [
      'schema: { type: object, properties: { a: { $ref: "#/$defs/b" } } }',
      ["tools[0].schema: is an unusable schema: can't resolve reference #/$defs/b from id #"],
    ],
    [
      'schema: { type: object, $schema: "http://json-schema.org/draft-04/schema#" }',
      [
        'tools[0].schema: is an unusable schema: its $schema is neither JSON Schema 2020-12 nor draft-07',
      ],
    ],
    [
      'schemaFile: nowhere.json',
      [
        'tools[0].schemaFile: refers to "nowhere.json", which does not exist; paths start at the folder of this file',
      ],
    ],
    ['schemaFile: folder', ['tools[0].schemaFile: refers to "folder", which is not a file']],
    [
      `schemaFile: "\${NOPE}.json"`,
      ['tools[0].schemaFile: needs the variable NOPE, which is not set; set it'],
    ],
    [
      'schemaFile: list.json',
      ['list.json:1:1: is a list of 0; must be a mapping: the JSON Schema of the arguments'],
    ],
    ['schemaFile: broken.json', ['broken.json:1:10: is not JSON from here on']],
  ])('refuses %j', (schema, expected) => {
    expect(ofSchema(schema)).toEqual(expected)
  })

  it('may be of either dialect', () => {
    expect(
      ofSchema(
        'schema: { type: object, properties: { a: { type: array, items: [{ type: string }] } } }',
      ),
    ).toEqual([])
    expect(
      ofSchema(
        'schema: { type: object, properties: { a: { prefixItems: [{ type: string }] } }, $schema: "https://json-schema.org/draft/2020-12/schema" }',
      ),
    ).toEqual([])
  })

  it('is bounded, alone and together with the others', () => {
    expect(
      ofSchema(`schema: { type: object, description: ${'x'.repeat(limits.schemaBytesMax)} }`),
    ).toEqual(['tools[0].schema: is a schema of 262178 bytes; must have at most 262144'])
    expect(
      ofSchema(`schema: { type: object, not: ${'{ not: '.repeat(150)}{}${' }'.repeat(150)} }`),
    ).toEqual(['tools[0].schema: is nested deeper than 128 levels'])
    const large = {
      'large.json': JSON.stringify({
        type: 'object',
        description: 'x'.repeat(limits.schemaBytesMax - 100),
      }),
    }
    const tools = Array.from(
      { length: 20 },
      (_, i) =>
        `  - { name: t${i}, description: d, schemaFile: large.json, command: [./there.sh] }\n`,
    )
    const [mistake] = mistakesIn({
      files: { ...files, ...large, 'a.yaml': `${top}tools:\n${tools.join('')}` },
      load: 'a.yaml',
    })
    expect(mistake).toMatch(
      /^a\.yaml:4:3 tools: declare 52\d{5} bytes of names, descriptions and schemas; must be at most 4194304, because each user's message carries them$/,
    )
  })
})

describe('a command', () => {
  it.each<[string, string[]]>([
    [
      'command: ./there.sh',
      [
        'tools[0].command: is "./there.sh"; must be a list: a program and its arguments, as in [node, tool.mjs]; there is no shell',
      ],
    ],
    [
      'command: []',
      [
        'tools[0].command: is a list of 0; must be a list: a program and its arguments, as in [node, tool.mjs]; there is no shell',
      ],
    ],
    [
      'command: [./there.sh, 8080]',
      ['tools[0].command[1]: is 8080; must be a text; put quotes around it'],
    ],
    [
      `command: [./there.sh, "\${NOPE}"]`,
      ['tools[0].command[1]: needs the variable NOPE, which is not set; set it'],
    ],
    [
      `command: [./there.sh, "\${}"]`,
      [
        `tools[0].command[1]: has a \${ without the name of a variable; must be \${NAME}, \${file:PATH}, or $\${ for the two characters themselves`,
      ],
    ],
    [
      'command: [./nowhere.sh]',
      [
        'tools[0].command[0]: refers to "./nowhere.sh", which does not exist; its path starts at cwd',
      ],
    ],
    [
      'command: [./plain.txt]',
      [
        'tools[0].command[0]: refers to "./plain.txt", which is not executable; set its execute bit',
      ],
    ],
    ['command: [./folder]', ['tools[0].command[0]: refers to "./folder", which is not a file']],
    [
      'command: [no-such-program]',
      [
        'tools[0].command[0]: is "no-such-program", which is not in PATH; install it, or set its path',
      ],
    ],
    [
      'command: [./there.sh], cwd: nowhere',
      [
        'tools[0].cwd: refers to "nowhere", which does not exist; paths start at the folder of this file',
      ],
    ],
    [
      'command: [./there.sh], cwd: plain.txt',
      ['tools[0].cwd: refers to "plain.txt", which is not a folder'],
    ],
    [
      'command: [./there.sh], cwd: "a\\0b"',
      ['tools[0].cwd: has a NUL character, which a path cannot have; remove it'],
    ],
    [
      'command: [./there.sh], environment: [TOKEN=x]',
      [
        'tools[0].environment[0]: cannot be used; must be the name of a variable, without its value',
      ],
    ],
    [
      'command: [./there.sh], environment: [TOKEN, OTHER]',
      ['tools[0].environment[1]: needs the variable OTHER, which is not set; set it'],
    ],
    [
      'command: [./there.sh], outputBytesMax: 262145',
      ['tools[0].outputBytesMax: is 262145; must be a whole number from 1 to 262144'],
    ],
  ])('refuses %j', (rest, expected) => {
    expect(ofTool(rest)).toEqual(expected)
  })
})

describe('an http tool', () => {
  it.each<[string, string[]]>([
    ['http: "http://h"', ['tools[0].http: is "http://h"; must be a mapping with url']],
    ['http: {}', ['tools[0].http.url: is missing; must be an http or https URL']],
    [
      'http: { url: "ftp://h/secret" }',
      [
        'tools[0].http.url: is "ftp://h", not an http or https URL; must be one, as in https://host/path',
      ],
    ],
    [
      `http: { url: "\${NOPE}" }`,
      ['tools[0].http.url: needs the variable NOPE, which is not set; set it'],
    ],
    [
      'http: { url: "http://h", timeoutMs: 5 }',
      ['tools[0].http.timeoutMs: is an unknown key; keys here: url, headers and outputBytesMax'],
    ],
    [
      'http: { url: "http://h", headers: [x] }',
      [
        `tools[0].http.headers: is a list of 1; must be a mapping of at most 64 headers, as in Authorization: Bearer \${TOKEN}`,
      ],
    ],
    [
      'http: { url: "http://h", headers: { X-A: 5 } }',
      ['tools[0].http.headers.X-A: is a number; must be a text'],
    ],
    [
      'http: { url: "http://h", headers: { "X token A": x } }',
      [
        'tools[0].http.headers: has a key that is no header name; must be letters, digits and -, as in X-Request-Id',
      ],
    ],
    [
      'http: { url: "http://h", headers: { X-A: x, x-a: y } }',
      ['tools[0].http.headers.x-a: is given twice; remove one, because header names ignore case'],
    ],
    [
      'http: { url: "http://h", headers: { Content-Type: x } }',
      ['tools[0].http.headers.Content-Type: is set by Weir; remove it'],
    ],
    [
      'http: { url: "http://h", headers: { Authorization: Bearer x } }',
      [
        `tools[0].http.headers.Authorization: holds a credential as plain text; put it into a variable and write \${NAME} here`,
      ],
    ],
    [
      `http: { url: "http://h", headers: { X-Api-Key: "$\${TOKEN}" } }`,
      [
        `tools[0].http.headers.X-Api-Key: holds a credential as plain text; put it into a variable and write \${NAME} here`,
      ],
    ],
    [
      `http: { url: "http://h", headers: { Authorization: "Bearer \${NOPE}" } }`,
      ['tools[0].http.headers.Authorization: needs the variable NOPE, which is not set; set it'],
    ],
    [
      `http: { url: "http://h", headers: { X-A: "\${LINES}" } }`,
      [
        'tools[0].http.headers.X-A: has a line end or a NUL character in it, perhaps from its variable; remove it',
      ],
    ],
    [
      'http: { url: "http://h", headers: { X-A: "日本" } }',
      ['tools[0].http.headers.X-A: has a character that no header can carry in it; remove it'],
    ],
    [
      'http: { url: "http://h", outputBytesMax: 0 }',
      ['tools[0].http.outputBytesMax: is 0; must be a whole number from 1 to 262144'],
    ],
  ])('refuses %j', (rest, expected) => {
    expect(ofTool(rest, undefined, { ...environment, LINES: 'a\nb' })).toEqual(expected)
  })
})

describe('a module tool', () => {
  it.each<[string, string[]]>([
    [
      'module: nowhere.ts',
      [
        'tools[0].module: refers to "nowhere.ts", which does not exist; paths start at the folder of this file',
      ],
    ],
    [
      'module: plain.txt',
      ['tools[0].module: is "plain.txt"; must be a file that ends in .ts, .mts, .js or .mjs'],
    ],
    [
      `module: "\${NOPE}.ts"`,
      ['tools[0].module: needs the variable NOPE, which is not set; set it'],
    ],
    [
      'http: { url: "http://h" }, export: pay',
      ['tools[0].export: goes with module only; remove it'],
    ],
    [
      'module: there.mjs, exports: pay',
      ['tools[0].exports: is an unknown key; did you mean export?'],
    ],
    [
      'module: there.mjs, export: pay now',
      ['tools[0].export: is "pay now"; must be the name of an exported function, such as lookUp'],
    ],
    [
      'module: [x]',
      ['tools[0].module: is a list of 1; must be the path of a .ts, .mts, .js or .mjs file'],
    ],
  ])('refuses %j', (rest, expected) => {
    expect(ofTool(rest)).toEqual(expected)
  })
})
