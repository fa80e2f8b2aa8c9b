// The servers behind a gateway when it starts.

import { join } from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import { pino } from 'pino'
import {
  mcpSlowerMsMax,
  type Upstreams,
  upstreamsOf,
} from '../../../../../apps/http/fronts/mcp/upstreams.ts'
import { fakeClock } from '../../../../../client/testing/fake-clock.ts'
import type { McpServer } from '../../../../../shared/agents/agents.ts'
import { until } from '../../../../support/inbox.ts'

const program = join(import.meta.dirname, '../../../../support/mcp/starting-server.ts')
const lines: string[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
let upstreams: Upstreams | undefined

afterEach(() => upstreams?.close())

function serverOf(kind: string): McpServer {
  const argv = [process.execPath, '--disable-warning=ExperimentalWarning', program, kind]
  const run = { kind: 'command' as const, argv: argv as [string] }
  return { name: kind, run, isTrusted: false, timeoutMs: 60_000, wallMs: 60_000 }
}

test('a gateway opens without the servers that start slowly, and ends them when it closes', async () => {
  const clock = fakeClock(0)
  upstreams = upstreamsOf([serverOf('mute'), serverOf('quick')], { isPrefixed: true, log, clock })
  let isOpen = false
  const opening = upstreams.open().then(() => {
    isOpen = true
  })
  await until(async () => {
    clock.advance(mcpSlowerMsMax)
    return isOpen
  })
  await opening
  const { listed } = await upstreams.tools()
  expect(listed.map(({ name }) => name)).toEqual(['quick__ping'])
  expect(lines.join('')).toContain('"server":"mute"')
  await upstreams.close() // later than the time limit of this test, if it waited for the start
})
