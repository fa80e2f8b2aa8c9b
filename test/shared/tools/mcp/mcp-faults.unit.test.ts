// The line for people about an MCP server that cannot be reached.

import { describe, expect, it } from '@jest/globals'
import type { McpServer } from '../../../../shared/agents/agents.ts'
import { connectFault } from '../../../../shared/tools/mcp/mcp-faults.ts'

const common = { name: 'files', isTrusted: false, timeoutMs: 1, wallMs: 1 }
const program: McpServer = { ...common, run: { kind: 'command', argv: ['srv'] } }
const remote: McpServer = {
  ...common,
  run: { kind: 'url', url: 'https://me:pw@host.example/mcp?key=hidden#x', headers: {} },
}
const closed = Object.assign(new Error('Version negotiation failed'), {
  cause: new Error('Connection closed'),
})
const withCode = (code: string) => Object.assign(new Error('x'), { code })
const ended = { code: 1, signal: null }
const printed = `node:internal/loader:1
  throw err;
  ^

Error: Cannot find module '/x/missing.mjs'
    at Module._load (node:internal/loader:9:1)
`

describe('the fault of an MCP server', () => {
  it.each<[string, string, unknown, { printed: string; ended: typeof ended | undefined }]>([
    [
      'names the error line of a program that ended, without its stack',
      "its program ended with code 1: Error: Cannot find module '/x/missing.mjs'",
      closed,
      { printed, ended },
    ],
    [
      'names the first line of other output',
      'its program ended with code 1: no licence',
      closed,
      { printed: 'no licence\nbye', ended },
    ],
    [
      'names a program that does not exist',
      'there is no program srv',
      withCode('ENOENT'),
      { printed: '', ended: undefined },
    ],
    [
      'says that a program gives no answer',
      'its program gives no answer in time',
      withCode('REQUEST_TIMEOUT'),
      { printed: '', ended: undefined },
    ],
    [
      'names the deepest cause of any other fault',
      'its program does not speak MCP (Connection closed)',
      closed,
      { printed: '', ended: undefined },
    ],
  ])('%s', (_, what, error, state) => {
    const text = connectFault(program, error, state)
    expect(text).toContain(`the MCP server files cannot be reached: ${what}; `)
    expect(text).not.toMatch(/\n| at /)
  })

  it.each([
    [401, 'correct its headers or its auth'],
    [404, 'correct its url'],
    [503, 'try again later, or ask its operator'],
  ])('has the status %s and a URL without user, query and fragment', (status, remedy) => {
    const error = Object.assign(new Error('<html>'), { status })
    expect(connectFault(remote, error, undefined)).toBe(
      `the MCP server files cannot be reached: https://host.example/mcp answers with ${status}; ${remedy}`,
    )
  })
})
