// Hosts that change the calls of their models, through the proxy with the real stages. Each gets the
// advice of a host that changes nothing, and the log counts each answer once.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type Fronts, openFronts } from '../../../../../../client/guard/log/fronts.ts'
import { openEmbeddedBus } from '../../../../../../shared/bus/embedded/bus.ts'
import { decode } from '../../../../../../shared/codec/codec.ts'
import { systemClock } from '../../../../../../shared/lib/clock.ts'
import { readSettings } from '../../../../../../shared/settings/settings.ts'
import { type Proxied, proxied } from '../proxied.ts'
import {
  asClaudeCode,
  finalText,
  type HostOptions,
  type Rewrite,
  runHost,
  type ScriptedCall,
  scriptedModel,
} from './rewriting-host.ts'

let proxy: Proxied | undefined
let fronts: Fronts | undefined
let folder: string | undefined

async function closed(): Promise<void> {
  await proxy?.close()
  await fronts?.close()
  proxy = undefined
  fronts = undefined
}

afterEach(async () => {
  await closed()
  if (folder !== undefined) rmSync(folder, { recursive: true })
  folder = undefined
})

type Case = {
  script: (n: number) => readonly ScriptedCall[]
  idOf?: (n: number, at: number) => string
  isVeto: boolean
} & HostOptions

/** Runs the case on a new log. Returns the host's exchanges and the rounds of the log. */
async function run({ script, idOf, isVeto, ...host }: Case) {
  folder = mkdtempSync(join(tmpdir(), 'weir-rewritten-'))
  const settings = readSettings({ dataFolder: folder }, {})
  fronts = await openFronts({ kind: 'folder', settings }, { log: pino({ level: 'silent' }) })
  const mode = isVeto ? 'blocking' : 'observing'
  const veto = isVeto ? { coversSubscriptions: false } : undefined
  proxy = await proxied(
    fronts.front({ agent: 'main', mode }),
    scriptedModel(script, idOf),
    '',
    veto,
  )
  const seen = await runHost(proxy.url, host)
  await proxy.settled()
  await closed()
  const log = await logIn(join(folder, 'weir.db'))
  rmSync(folder, { recursive: true })
  folder = undefined
  return { same: { seen, rounds: log.rounds }, ...log, seen }
}

/** The rounds of the log, oldest first, and the changed arguments in its results. */
async function logIn(file: string) {
  const bus = await openEmbeddedBus({ file, clock: systemClock })
  const rounds: { statuses: string[]; calls: string[] }[] = []
  const shown = new Set<string>()
  for (const topic of ['weir.history', 'weir.guest-events'])
    for (const { partition } of await bus.ends(topic))
      for (const { value } of await bus.read({ topic, partition, from: 0, limit: 10_000 })) {
        const message = decode(value ?? new Uint8Array())
        if (message.type === 'history-entry' && message.response !== null)
          rounds.push({
            statuses: message.results.map(({ status }) => status),
            calls: message.response.calls.map(({ raw }) => raw),
          })
        if (message.type === 'guest-results')
          for (const result of message.results) if (result.shown !== null) shown.add(result.shown)
      }
  await bus.close()
  return { rounds, shown: [...shown] }
}

const bash = (command: string, more = {}): ScriptedCall => ({
  name: 'Bash',
  input: JSON.stringify({ command, ...more }),
})
const edit = (n: number): ScriptedCall => ({
  name: 'Edit',
  input: JSON.stringify({ file_path: '/w/a.ts', new_string: `line ${n}  \nnext` }),
})
const asSent: Rewrite = ({ input }) => input

/** A host without a profile. It keeps the ids of calls and nothing else. */
const asStranger: Rewrite = ({ name, input }) =>
  typeof input === 'string'
    ? { broken: input }
    : {
        by: name,
        ...Object.fromEntries(
          Object.entries(input).map(([key, value]) => [key.toUpperCase(), `${value}`.trim()]),
        ),
      }
const strange = { 'x-weir-conversation': 'stranger' }

const hosts: [string, Pick<HostOptions, 'rewrite' | 'headers'>][] = [
  ['Claude Code', { rewrite: asClaudeCode }],
  ['a host without a profile', { rewrite: asStranger, headers: strange }],
]

const builds = [
  '11 failed',
  '10 failed',
  '9 failed',
  '8 failed',
  '7 failed',
  '5 failed',
  '1 failed',
]
const equal = { resultOf: () => ({ text: 'still building' }) }
const better: Pick<HostOptions, 'resultOf'> = {
  resultOf: (_, n) => ({
    text: `Tests: ${builds[n - 1] ?? 'all passed'}`,
    isError: n <= builds.length,
  }),
}
const edited: Pick<HostOptions, 'resultOf'> = {
  resultOf: ({ name }, n) =>
    name === 'Edit'
      ? { text: 'The file /w/a.ts has been updated.' }
      : { text: `exit 1\nTests: ${20 - n} failed`, isError: true },
}
const upTo = (last: number, script: Case['script']) => (n: number) => (n <= last ? script(n) : [])

const cases: [string, Pick<Case, 'script' | 'resultOf'>][] = [
  ['4 equal polls', { script: upTo(4, () => [bash('cd /w && cat build.txt')]), ...equal }],
  ['equal polls for ever', { script: () => [bash('cd /w && cat build.txt')], ...equal }],
  [
    '7 polls with other results',
    { script: upTo(7, () => [bash('cd /w && date')]), resultOf: (_, n) => ({ text: `12:0${n}` }) },
  ],
  ['better test results', { script: upTo(8, () => [bash('cd /w && npm test')]), ...better }],
  ['8 edits', { script: upTo(8, (n) => [edit(n)]), ...edited }],
  [
    '8 cycles of edit and test',
    { script: upTo(16, (n) => (n % 2 === 1 ? [edit(n)] : [bash('cd /w && npm test')])), ...edited },
  ],
  [
    'edits and tests in parallel',
    { script: upTo(6, (n) => [edit(n), bash('cd /w && npm test')]), ...edited },
  ],
]

describe.each([
  ['the proxy', false],
  ['the veto', true],
])('a host that changes calls behind %s', (_, isVeto) => {
  it.each(cases)('gets the advice of one that changes none: %s', async (_, one) => {
    const plain = await run({ ...one, isVeto, rewrite: asSent })
    for (const [name, host] of hosts) {
      const changed = await run({ ...one, ...host, isVeto })
      expect({ name, ...changed.same }).toEqual({ name, ...plain.same })
    }
  })
})

const broken: ScriptedCall = { name: 'Bash', input: '{"command":"echo' }
const unread: Pick<HostOptions, 'resultOf'> = {
  resultOf: () => ({ text: 'InputValidationError: the input is not valid JSON', isError: true }),
}

describe.each([
  ['the proxy', false],
  ['the veto', true],
])('arguments that are no JSON, shown as __unparsedToolInput, behind %s', (_, isVeto) => {
  it('end as for a host that shows them as they were sent', async () => {
    const one = { script: () => [broken], ...unread, isVeto }
    const plain = await run({ ...one, rewrite: asSent })
    const changed = await run({ ...one, rewrite: asClaudeCode })
    expect(changed.same).toEqual(plain.same)
    if (isVeto) return
    expect(changed.seen).toMatchObject({ requests: 5, reply: finalText })
    expect(changed.rounds.map(({ statuses }) => statuses)).toEqual([
      ...Array.from({ length: 4 }, () => ['denied']),
      [],
    ])
  })
})

describe('a host that changes calls behind the proxy, further', () => {
  const polls = { script: upTo(9, () => [bash('cd /w && date')]), isVeto: false }
  const times: Pick<HostOptions, 'resultOf'> = { resultOf: (_, n) => ({ text: `12:0${n}` }) }

  it('has each round once if it drops the older half of its history', async () => {
    const shown = (messages: unknown[]) =>
      messages.length <= 11 ? messages : [messages[0], ...messages.slice(-7)]
    const { rounds } = await run({
      ...polls,
      ...times,
      rewrite: asStranger,
      headers: strange,
      shown,
    })
    expect(rounds.map(({ statuses }) => statuses)).toEqual([
      ...Array.from({ length: 9 }, () => ['ok']),
      [],
    ])
  })

  it('has each round once if the ids of its model repeat and its profile declares the change', async () => {
    const plain = await run({ ...polls, ...times, idOf: () => 'call_0', rewrite: asSent })
    const changed = await run({ ...polls, ...times, idOf: () => 'call_0', rewrite: asClaudeCode })
    expect(changed.same).toEqual(plain.same)
    expect(changed.rounds).toHaveLength(10)
  })

  it('is stopped in a loop, and not in honest work, if ids repeat and no profile declares the change', async () => {
    const other = { idOf: () => 'call_0', rewrite: asClaudeCode, headers: strange, isVeto: false }
    const honest = await run({ ...polls, ...times, ...other })
    expect(honest.seen.notes.filter(Boolean)).toEqual([])
    const loop = await run({ ...other, ...equal, script: () => [bash('cd /w && cat b')] })
    expect(loop.seen.requests).toBeLessThan(12)
  })

  it('has both spellings of a changed call in the log, and one of a call that is the same', async () => {
    const plain = await run({ ...polls, ...times, rewrite: asSent })
    const changed = await run({ ...polls, ...times, rewrite: asClaudeCode })
    expect(plain.shown).toEqual([])
    expect(changed.shown).toEqual(['{"command":"date"}'])
    expect(changed.rounds[0]?.calls).toEqual(['{"command":"cd /w && date"}'])
  })

  it('reads numbers out of texts where its schema requires them, and the log has the text too', async () => {
    const script = upTo(4, () => [bash('cat build.txt', { timeout: '5000' })])
    const { seen, rounds } = await run({ script, ...equal, isVeto: false, rewrite: asClaudeCode })
    expect(seen).toMatchObject({ requests: 5, notes: ['', '', '', '', ''] })
    expect(rounds[0]).toEqual({
      statuses: ['ok'],
      calls: ['{"command":"cat build.txt","timeout":5000}'],
    })
  })
})

/** Drops the older half of the history each time it has 6 rounds. */
function dropsHalf(messages: unknown[]): unknown[] {
  if (messages.length >= 13) messages.splice(1, messages.length - 7)
  return messages
}

describe('a model whose call ids repeat, under the veto', () => {
  const fixed = { idOf: (_: number, at: number) => `call_${at}`, headers: strange, isVeto: true }

  it.each(cases)('gets the advice of a host that changes no calls: %s', async (_, one) => {
    const plain = await run({ ...one, ...fixed, rewrite: asSent })
    for (const rewrite of [asClaudeCode, asStranger]) {
      const changed = await run({ ...one, ...fixed, rewrite })
      expect(changed.same).toEqual(plain.same)
    }
  })

  const reads = upTo(20, (n) => [bash(n % 3 === 0 ? 'npm test' : `cat ${n}.ts`)])
  const texts = (n: number) => ({ text: `Tests: ${40 - n} failed` })

  it('gets no advice if its host drops older rounds, and the log has each answer once', async () => {
    const one = { ...fixed, script: reads, resultOf: (_: unknown, n: number) => texts(n) }
    const plain = await run({ ...one, rewrite: asSent })
    for (const rewrite of [asSent, asClaudeCode]) {
      const { seen, rounds } = await run({ ...one, rewrite, shown: dropsHalf })
      expect(seen).toEqual(plain.seen)
      expect(rounds.map(({ calls }) => calls)).toEqual(plain.rounds.map(({ calls }) => calls))
    }
  })

  it('is ended in a loop if its host drops older rounds', async () => {
    const loop = { ...fixed, ...equal, script: () => [bash('cd /w && cat b')] }
    for (const rewrite of [asSent, asClaudeCode]) {
      const { seen } = await run({ ...loop, rewrite, shown: dropsHalf })
      expect(seen.requests).toBeLessThan(12)
    }
  })
})
