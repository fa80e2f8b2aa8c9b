// `weir mcp --http-port`: hosts of both eras, foreign pages, and the conformance suite of MCP.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { failuresIn } from '../../../../support/mcp/conformance.ts'
import { eras, gatewayOverHttp, hostOverHttp, textOf } from '../../../../support/mcp/gateway.ts'

const everything = join(import.meta.dirname, '../../../../support/mcp/everything.ts')
const suite = join(
  import.meta.dirname,
  '../../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
)

type Gateway = Awaited<ReturnType<typeof gatewayOverHttp>>

const folders: string[] = []
const gateways: Gateway[] = []
/** In front of the test server, for all tests that need no other one. */
let gateway: Gateway
let journal: string
let callsBefore: number

beforeAll(async () => {
  const folder = await newFolder()
  journal = join(folder, 'journal')
  await writeFile(journal, '')
  gateway = await open({
    folder,
    environment: { MCP_JOURNAL: journal },
    args: ['--env', 'MCP_JOURNAL'],
  })
})

beforeEach(async () => {
  callsBefore = (await readFile(journal, 'utf8')).length
})

afterAll(async () => {
  for (const opened of gateways) await opened.close()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

async function open(options: Parameters<typeof gatewayOverHttp>[0]): Promise<Gateway> {
  const opened = await gatewayOverHttp(options)
  gateways.push(opened)
  return opened
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-gateway-'))
  folders.push(folder)
  return folder
}

/** The calls that the server has received in this test. */
const calls = async () => (await readFile(journal, 'utf8')).slice(callsBefore)

describe.each(eras)('a host of the %s era under weir mcp over HTTP', (era) => {
  it('calls tools, and a loop ends its own conversation only', async () => {
    const one = await hostOverHttp(`${gateway.url}/mcp/coder/one-${era}`, { era })
    const other = await hostOverHttp(`${gateway.url}/mcp/coder/other-${era}`, { era })
    for (let n = 0; n < 6; n += 1) await textOf(one, 'weather', {})
    expect((await textOf(one, 'weather', { city: 'Rome' })).text).toContain('has ended this turn')
    expect(await textOf(other, 'weather', { city: 'Rome' })).toEqual({
      text: '18 °C in Rome',
      isError: false,
    })
    expect(await calls()).toBe('weather\n')
    await one.close()
    await other.close()
  })
})

describe('weir mcp over HTTP', () => {
  it('refuses arguments that two readers would read differently, and keeps exact ones', async () => {
    const { url } = gateway
    const post = async (args: string) => {
      const response = await fetch(`${url}/mcp/coder/a`, {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail","arguments":${args}}}`,
      })
      return response.text()
    }
    expect(await post('{"a":1,"a":2}')).toContain("field 'a' is given twice")
    expect(await post('{"a":1,"A":2}')).toContain("differ only in their letters' case")
    expect(await calls()).toBe('')
    expect(await post('{"a":9007199254740993}')).toContain('no such city')
    expect(await calls()).toBe('fail\n')
    expect(await post('{"a":')).toContain('-32700')
  })

  it('refuses pages of other sites, and names that no guest can have', async () => {
    const { url } = gateway
    const post = (path: string, headers: Record<string, string>) =>
      fetch(`${url}${path}`, { method: 'POST', headers, body: '{}' })
    expect((await post('/mcp/coder/a', { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post('/mcp/CODER/a', {})).status).toBe(404)
    for (const path of ['/mcp', '/mcp/coder']) {
      const unknown = await post(path, {})
      expect(unknown.status).toBe(404)
      const message = `unknown path: there is no POST ${path}; the path of this gateway is /mcp/AGENT/CONVERSATION`
      expect(await unknown.json()).toMatchObject({ error: { message } })
    }
    expect((await post('/mcp/coder/a', {})).status).toBeGreaterThanOrEqual(400)
  })
})

describe('a host that speaks neither era', () => {
  it.each([
    ['a revision that does not exist', 'initialize', { protocolVersion: '1999-01-01' }],
    ['no envelope of a request', 'tools/list', {}],
  ])('gets an answer that it can read, with %s', async (_title, method, params) => {
    const { url } = gateway
    const info = { capabilities: {}, clientInfo: { name: 'old', version: '1' } }
    const answer = await fetch(`${url}/mcp/coder/a`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...info, ...params } }),
    })
    expect(answer.status).toBeLessThan(500)
    expect(await answer.text()).toMatch(/"protocolVersion":"2025-11-25"|"error":|"tools":/)
  })

  it('gets the supported revisions, with a revision of the future', async () => {
    const { url } = gateway
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2031-01-01',
      'io.modelcontextprotocol/clientInfo': { name: 'new', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const answer = await fetch(`${url}/mcp/coder/a`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2031-01-01',
        'mcp-method': 'tools/list',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }),
    })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('2026-07-28')
  })
})

const asksTheHost = [
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
]
const asksForInput = [
  'basic-elicitation',
  'basic-sampling',
  'basic-list-roots',
  'request-state',
  'multiple-input-requests',
  'multi-round',
  'non-tool-request',
  'result-type',
  'tampered-state',
  'capability-check',
].map((name) => `input-required-result-${name}`)

/** Scenarios that the gateway does not pass: docs/build/mcp.md has the reasons. */
const knownFailures = {
  '2025-11-25': [
    ...asksTheHost,
    ...['logging-set-level', 'tools-call-with-logging'],
    ...['resources-subscribe', 'resources-unsubscribe'],
  ],
  '2026-07-28': [...asksForInput, 'server-stateless'],
}

/** Many calls of the suite are refused by design, so no loop may end its turn. */
const patient = `name: suite
guest: true
loop: { identicalFailures: 1000, identicalSuccesses: 1000, cycleLaps: 1000, schemaFailures: 1000 }
`

describe.each(['2025-11-25', '2026-07-28'] as const)('the conformance suite of %s', (revision) => {
  it('fails in the known scenarios only', async () => {
    const folder = await newFolder()
    await mkdir(join(folder, 'agents'))
    await writeFile(join(folder, 'agents', 'suite.yaml'), patient)
    const { url } = await open({
      folder,
      behind: ['--', process.execPath, everything],
      environment: { WEIR_AGENTS: 'agents' },
    })
    const run = async (...which: string[]) => {
      const args = ['server', '--url', `${url}/mcp/suite/all`, ...which]
      const { stdout } = await promisify(execFile)(process.execPath, [suite, ...args], {
        cwd: folder,
        maxBuffer: 64 * 1024 * 1024,
      }).catch((error: { stdout: string }) => error)
      return stdout
    }
    const stdout = await run('--requirements', revision)
    expect(stdout).toContain('✓ tools-call-simple-text: 2 passed')
    const failures = failuresIn(stdout)
    const known = knownFailures[revision]
    expect(failures).toEqual(expect.arrayContaining(known))
    // On a loaded machine a scenario may miss a deadline of seconds.
    for (const name of failures.filter((one) => !known.includes(one)))
      expect(await run('--scenario', name, '--spec-version', revision)).toMatch(/ 0 failed/)
  })
})
