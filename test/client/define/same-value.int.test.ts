// The same agent as a file and in a program.

import { afterAll, expect, it } from '@jest/globals'
import { agentsInFiles, agentsOfProgram } from '../../../client/agents/agents-in-files.ts'
import { anthropic, defineAgent, defineTool } from '../../../client/weir.ts'
import { agentFolder } from '../../shared/agents/file/agent-folder.ts'

const folder = agentFolder({
  'agent.yaml': `name: helper
system: Be brief.
model: { provider: anthropic, name: m, maxOutputTokens: 100, temperature: 0.5 }
fallback: Sorry.
caps: { rounds: 5, tokens: 1000 }
loop: { identicalFailures: 2, rules: { sweep: shadow } }
empty: { perTurn: 1 }
graceMs: 100
textCalls: off
sandbox: { network: none }
tools:
  - name: list
    description: Lists files.
    schema: { type: object, properties: { folder: { type: string } }, required: [folder] }
    idempotent: true
    mutates: false
    reads: private
    sends: out
    ignoreFields: [folder]
    concurrency: 2
    command: [ls, '-l']
  - name: read
    description: Reads a file.
    schema: { type: object }
    timeoutMs: 1000
    outputBytesMax: 99
    module: read.mjs
    sandbox: off
  - name: look
    description: Looks.
    schema: { type: object }
    http: { url: 'http://localhost/look', headers: { X-Mine: yes } }
`,
  'read.mjs': 'export default () => ""',
})
afterAll(() => folder.remove())

it('makes the same value of an agent file and of a program', () => {
  const environment = { ANTHROPIC_API_KEY: 'sk-a', PATH: process.env.PATH }
  const type = 'object'
  const agent = defineAgent({
    name: 'helper',
    system: 'Be brief.',
    fallback: 'Sorry.',
    model: anthropic('m', { maxOutputTokens: 100, temperature: 0.5 }),
    caps: { rounds: 5, tokens: 1000 },
    loop: { identicalFailures: 2, rules: { sweep: 'shadow' } },
    empty: { perTurn: 1 },
    graceMs: 100,
    textCalls: 'off',
    sandbox: { network: 'none' },
    tools: [
      defineTool({
        name: 'list',
        description: 'Lists files.',
        idempotent: true,
        mutates: false,
        reads: 'private',
        sends: 'out',
        parameters: { type, properties: { folder: { type: 'string' } }, required: ['folder'] },
        ignoreFields: ['folder'],
        concurrency: 2,
        command: ['ls', '-l'],
        cwd: folder.path,
      }),
      defineTool({
        name: 'read',
        description: 'Reads a file.',
        parameters: { type },
        timeoutMs: 1000,
        outputBytesMax: 99,
        module: `${folder.path}/read.mjs`,
        sandbox: 'off',
      }),
      defineTool({
        name: 'look',
        description: 'Looks.',
        parameters: { type },
        http: { url: new URL('http://localhost/look'), headers: { 'X-Mine': 'yes' } },
      }),
    ],
  })
  expect(agentsOfProgram([agent], environment)).toEqual(agentsInFiles(folder.path, environment))
})
