// Guards of several programs on one data folder, side by side and next to a Weir with agents.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type GuardOptions, openGuard } from '../../../client/guard/guard.ts'
import type { GuardSession } from '../../../client/guard/guest-conversation.ts'
import { openBus, openBusOnceFree } from '../../../client/place/open-bus.ts'
import { says, scriptedModel } from '../../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../../client/weir.ts'
import { ownFormat } from '../../../shared/codec/codec.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { Guard as WeirGuard } from '../../../shared/contract/guard/guard.ts'
import { keyOf } from '../../../shared/contract/topology.ts'
import { storedFleet } from '../../../shared/runtime/fleet/stored-formats.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { compiled } from '../../support/compiled.ts'
import { answerOf, requestOf, saidCall } from '../../support/guest-requests.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

const program = fileURLToPath(new URL('../../support/guard-process.ts', import.meta.url))
const log = pino({ level: 'silent' })

let folder: string
let open: { close(): Promise<void> }[]
let processes: ChildProcess[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-guards-'))
  open = []
  processes = []
})
afterEach(async () => {
  for (const one of processes) {
    const exited = once(one, 'exit')
    if (one.exitCode === null && one.signalCode === null && one.kill('SIGKILL')) await exited
  }
  for (const one of open.reverse()) await one.close()
  rmSync(folder, { recursive: true })
})

async function guardWith(options: Partial<GuardOptions> = {}): Promise<GuardSession> {
  const place = { dataFolder: folder, log, answerWithinMs: waitMaxMs }
  const guard = await openGuard({ agent: 'coder', ...place, ...options })
  open.push(guard)
  return guard
}

async function onFolder(work: (place: { bus: Bus; topicPrefix: string }) => Promise<void>) {
  const bus = await openBus(readSettings({ dataFolder: folder }, {}), log)
  await work({ bus, topicPrefix: 'weir.' }).finally(() => bus.close())
}

async function weirWith(stages: 'auto' | 'here', reply = 'Here.') {
  const model = scriptedModel(says(reply))
  const agent = defineAgent({ name: 'helper', model, system: 'Help.' })
  const weir = await Weir.open({ agents: [agent], dataFolder: folder, stages, log })
  open.push(weir)
  return weir
}

const tools = [
  declarationOf('exec', '', {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
  }),
]

async function callOf(guard: GuardSession, id: string, input: object) {
  const request = requestOf('anthropic', [{ user: 'Go.', responses: [] }], tools)
  const answer = answerOf(request, saidCall('exec', input, { id: 'c' }))
  const [call] = await guard.conversation(id).afterModel(answer)
  return call
}

async function verdictOf(guard: GuardSession, id: string, input: object) {
  return (await callOf(guard, id, input))?.verdict
}

/** One call that fits its schema, and one that does not. */
const judged = async (guard: GuardSession, id: string) => [
  await verdictOf(guard, `${id}-good`, { command: 'ls' }),
  await verdictOf(guard, `${id}-broken`, {}),
]

it('share a folder: each judges the calls of its program', async () => {
  const first = await guardWith()
  const second = await guardWith({ agent: 'writer' })
  expect(await judged(second, 'a')).toEqual(['allow', 'deny'])
  expect(await judged(first, 'b')).toEqual(['allow', 'deny'])
})

it('allow an equal call once, also after all of them have started again', async () => {
  const pay = { command: 'pay' }
  const first = await guardWith()
  const second = await guardWith()
  expect(await verdictOf(second, 'a', pay)).toBe('allow')
  expect(await callOf(first, 'a', pay)).toMatchObject({ verdict: 'deny', code: 'guest.repeated' })
  await second.close()
  await first.close()
  const later = await guardWith()
  expect(await callOf(later, 'a', pay)).toMatchObject({ verdict: 'deny', code: 'guest.repeated' })
})

it('go on when the one that runs the stages closes', async () => {
  const first = await guardWith()
  const second = await guardWith()
  expect(await judged(second, 'a')).toEqual(['allow', 'deny'])
  await first.close()
  expect(await judged(second, 'b')).toEqual(['allow', 'deny'])
})

it('go on when the process that runs the stages is killed', async () => {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', program, folder],
    { env: { ...process.env, ...compiled }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  processes.push(child)
  if (child.stdout === null) throw new Error('no output')
  await once(createInterface(child.stdout), 'line') // it owns the folder
  const guard = await guardWith()
  expect(await judged(guard, 'a')).toEqual(['allow', 'deny'])
  child.kill('SIGKILL')
  expect(await judged(guard, 'b')).toEqual(['allow', 'deny'])
})

it('run their own guards next to a Weir, which judges their calls', async () => {
  const weir = await weirWith('here')
  const noRemoval: WeirGuard = {
    name: 'no-removal',
    version: '1',
    tools: ['exec'],
    deadlineMs: waitMaxMs,
    onTimeout: 'deny',
    judge: (state, { calls }) => ({
      state,
      verdicts: calls.map(({ ordinal, arguments: args }) =>
        JSON.stringify(args).includes('rm')
          ? { ordinal, verdict: 'deny', code: 'removal', text: 'No.' }
          : { ordinal, verdict: 'allow' },
      ),
    }),
  }
  const guard = await guardWith({ guards: { guards: [noRemoval], mode: 'enforce' } })
  expect(await verdictOf(guard, 'a', { command: 'rm -r .' })).toBe('deny')
  expect(await judged(guard, 'b')).toEqual(['allow', 'deny'])
  expect((await weir.ask({ agent: 'helper', text: 'Where?' }).finished).reply).toBe('Here.')
})

it.each(['auto', 'here'] as const)(
  'leave the folder to a Weir with stages %s, and go on next to it',
  async (stages) => {
    const guard = await guardWith()
    const other = await guardWith({ agent: 'writer' })
    expect(await judged(guard, 'a')).toEqual(['allow', 'deny'])
    const weir = await weirWith(stages)
    expect((await weir.ask({ agent: 'helper', text: 'Where?' }).finished).reply).toBe('Here.')
    expect(await judged(guard, 'b')).toEqual(['allow', 'deny'])
    expect(await judged(other, 'c')).toEqual(['allow', 'deny'])
    await weir.close()
    expect(await judged(guard, 'd')).toEqual(['allow', 'deny'])
  },
)

it('leave the folder to weir up, which waits for it', async () => {
  const guard = await guardWith()
  const bus = await openBusOnceFree(readSettings({ dataFolder: folder }, {}), log, {
    waits: ({ code }) => expect(code).toBe('bus.locked'),
    signal: AbortSignal.timeout(waitMaxMs),
  })
  await bus?.close()
  expect(bus).toBeDefined()
  expect(await judged(guard, 'a')).toEqual(['allow', 'deny'])
})

it('store the schemas of their records in a folder of an older Weir', async () => {
  await (await guardWith()).close()
  await onFolder(async (place) => {
    const keys = (await storedFleet(place)).formats.map(keyOf)
    expect(keys).toHaveLength(ownFormat - 1)
    const table = { topic: 'weir.policies', partition: 0 }
    await place.bus.append(keys.map((key) => ({ ...table, key, value: null })))
    expect((await storedFleet(place)).formats).toEqual([])
  })
  await (await guardWith()).close()
  await onFolder(async (place) =>
    expect((await storedFleet(place)).formats).toHaveLength(ownFormat - 1),
  )
})

it('wait for a folder with stages elsewhere', async () => {
  const opening = guardWith({ stages: 'elsewhere' })
  await weirWith('here')
  expect(await judged(await opening, 'a')).toEqual(['allow', 'deny'])
})
