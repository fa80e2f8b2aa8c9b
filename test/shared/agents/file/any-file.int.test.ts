// Loading any file, with any content, ends in an agent or in a list of mistakes.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { providers } from '../../../../services/llm-gateway/performer/providers/providers.ts'
import { loadAgentFile } from '../../../../shared/agents/file/load-agents.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { agentFolder, checkSchema } from './agent-folder.ts'

const secret = 'hunter2-hunter2'
const environment = { ANTHROPIC_API_KEY: secret, A: secret, PATH: '/bin' }
const folder = agentFolder({ 't.sh': '#!/bin/sh\n' })
afterAll(folder.remove)

const right = `name: &n a
system: |
  Help.
model: { provider: anthropic, name: m, maxOutputTokens: 10, baseUrl: "https://h/\${A}", apiKey: "\${A}" }
caps:
  rounds: 3
tools:
  - name: t
    description: *n
    schema: { type: object, properties: { a: { type: string } }, required: [a] }
    command: [./t.sh, "\${A}"]
    environment: [A]
  - name: u
    description: d
    schema: {"type": "object"}
    http: { url: "http://h", headers: { X-Key: "\${A}" } }
`

/** Undefined: the file is valid. */
function complaintAbout(content: string | Uint8Array, name: string): string | undefined {
  const file = join(folder.path, name)
  writeFileSync(file, content)
  try {
    loadAgentFile(file, environment, { checkSchema }, { providers })
    return undefined
  } catch (error) {
    if (error instanceof WeirError && error.code === 'agent.invalid') return error.message
    throw new Error(
      `cannot be told from a bug, with ${JSON.stringify(readFileSync(file, 'utf8'))}`,
      { cause: error },
    )
  }
}

const cut = fc.record({
  from: fc.nat(right.length),
  length: fc.nat(12),
  put: fc.oneof(
    fc.constantFrom(
      '"',
      '{',
      '[',
      ']',
      '}',
      ': ',
      '\n',
      '\n  ',
      '\t',
      '- ',
      '&n ',
      '*n',
      '!x ',
      '|',
      '#',
      `\${`,
      `$\${`,
      '\0',
      '\ud800',
      '__proto__',
      'null',
      '.nan',
      '? ',
    ),
    fc.string({ maxLength: 6 }),
  ),
})

describe('a file with replaced parts', () => {
  it('is accepted or refused, and no variable is shown', () => {
    fc.assert(
      fc.property(fc.array(cut, { minLength: 1, maxLength: 3 }), (cuts) => {
        const text = cuts.reduce(
          (rest, { from, length, put }) => rest.slice(0, from) + put + rest.slice(from + length),
          right,
        )
        expect(complaintAbout(text, 'a.yaml') ?? '').not.toContain(secret)
      }),
      { numRuns: 200 },
    )
  })

  it('is accepted without a change', () => {
    expect(complaintAbout(right, 'a.yaml')).toBe(undefined)
  })
})

it('is refused with any JSON that is no agent, and with any bytes', () => {
  fc.assert(
    fc.property(fc.json(), (json) => expect(complaintAbout(json, 'a.json')).toBeDefined()),
    { numRuns: 100 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) =>
      expect(complaintAbout(bytes, 'a.yaml')).toBeDefined(),
    ),
    { numRuns: 100 },
  )
})
