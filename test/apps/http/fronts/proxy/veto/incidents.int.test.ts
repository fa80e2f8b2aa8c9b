// The proxy with a veto and the real stages: agents on the official SDKs get one valid answer, and no
// call that Weir has refused.

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
import { type Spoken, speaking } from './answers.ts'
import { sdkForms } from './sdk-chats.ts'

let proxy: Proxied | undefined
let fronts: Fronts | undefined

afterEach(async () => {
  await proxy?.close()
  await fronts?.close()
})

function opened(...answers: Spoken[]): Promise<Proxied> {
  return openedOn({ kind: 'memory' }, answers)
}

async function openedOn(
  place: Parameters<typeof openFronts>[0],
  answers: Spoken[],
): Promise<Proxied> {
  fronts = await openFronts(place, { log: pino({ level: 'silent' }) })
  const guard = fronts.front({ agent: 'main', mode: 'blocking' })
  proxy = await proxied(guard, speaking(...answers), '', { coversSubscriptions: false })
  return proxy
}

const broken = (id: string, text?: string): Spoken => ({
  ...(text === undefined ? {} : { text }),
  calls: [{ id, args: '{}' }],
})
const good = (id: string, cmd = 'ls'): Spoken => ({
  calls: [{ id, args: JSON.stringify({ cmd }) }],
})

describe.each(sdkForms)('the veto on the SDK ($name)', ({ open, isStreamed }) => {
  it('hides a call that breaks its schema and passes on the corrected one', async () => {
    const { url, received } = await opened(broken('call_1', 'Looking.'), good('call_2'))
    const chat = open(url, { isStreamed })
    chat.say('List the files.')
    const { text, calls, usage } = await chat.ask()
    expect(calls).toEqual([{ id: 'call_2', args: { cmd: 'ls' } }])
    expect(text).toBe(isStreamed ? 'Looking.' : '')
    expect(usage).toEqual({ input: 28, output: 10 })
    expect(received).toHaveLength(2)
    const repeat = received[1]?.body.toString() ?? ''
    for (const part of ['call_1', 'Looking.', 'cmd']) expect(repeat).toContain(part)
  })

  it('passes an answer without a refusal on after one request', async () => {
    const { url, received } = await opened({ text: 'Looking.', ...good('call_1') })
    const chat = open(url, { isStreamed })
    chat.say('List the files.')
    const { text, calls, usage } = await chat.ask()
    expect([text, calls]).toEqual(['Looking.', [{ id: 'call_1', args: { cmd: 'ls' } }]])
    expect(usage).toEqual({ input: 14, output: 5 })
    expect(received).toHaveLength(1)
  })

  it('holds back both of two calls if one is refused', async () => {
    const both: Spoken = {
      calls: [
        { id: 'call_1', args: '{"cmd":"ls"}' },
        { id: 'call_2', args: '{}' },
      ],
    }
    const { url, received } = await opened(both, good('call_3'), { text: 'Done.' })
    const chat = open(url, { isStreamed })
    chat.say('List the files.')
    expect((await chat.ask()).calls.map(({ id }) => id)).toEqual(['call_3'])
    const repeat = received[1]?.body.toString() ?? ''
    expect(repeat).toContain('another call of this response was refused')
    chat.results('a.txt')
    expect((await chat.ask()).text).toBe('Done.')
    expect(received[2]?.body.toString()).not.toContain('call_2')
  })

  it('knows the turn again in the next request, and the next turn', async () => {
    const { url, received, settled } = await opened(
      ...[broken('call_1'), good('call_2'), broken('call_3'), good('call_4'), { text: 'Two.' }],
      ...[good('call_5', 'pwd'), { text: 'Done.' }],
    )
    const chat = open(url, { isStreamed })
    chat.say('List the files.')
    expect((await chat.ask()).calls[0]?.id).toBe('call_2')
    chat.results('a.txt')
    expect((await chat.ask()).calls[0]?.id).toBe('call_4')
    chat.results('b.txt')
    expect((await chat.ask()).text).toBe('Two.')
    chat.say('Where?')
    expect((await chat.ask()).calls[0]?.id).toBe('call_5')
    chat.results('/')
    expect((await chat.ask()).text).toBe('Done.')
    await settled()
    expect(received).toHaveLength(7)
  })

  it('judges each answer of a model that gives all calls the same id', async () => {
    const { url, received, settled } = await opened(
      ...[broken('c'), broken('c'), good('c'), good('c', 'pwd'), broken('c'), good('c', 'cat x')],
      { text: 'Done.' },
    )
    const chat = open(url, { isStreamed })
    chat.say('List the files.')
    for (const cmd of ['ls', 'pwd', 'cat x']) {
      expect((await chat.ask()).calls).toEqual([{ id: 'c', args: { cmd } }])
      chat.results(`ran ${cmd}`)
    }
    expect((await chat.ask()).text).toBe('Done.')
    await settled()
    expect(received).toHaveLength(7)
  })

  it('ends the loop of a call that fails in the same way each time', async () => {
    const loop = Array.from({ length: 12 }, (_, n) => good(`call_${n}`))
    const { url, received } = await opened(...loop)
    const chat = open(url, { isStreamed })
    chat.say('List the files.')
    let answers = 0
    for (let isOver = false; !isOver; answers += 1) {
      const { calls } = await chat.ask()
      chat.results('Error: no such folder')
      isOver = calls.length === 0
    }
    expect(answers).toBeLessThanOrEqual(5)
    expect(received.length).toBeLessThanOrEqual(8)
  })

  it('ends incident I1 within few requests of the client', async () => {
    const { url, received } = await opened(broken('call_1'))
    const chat = open(url, { isStreamed })
    chat.say('List the files.')
    const { text, calls } = await chat.ask()
    expect(calls).toEqual([])
    expect(text).toContain('I could not do this.')
    expect(received.length).toBeLessThanOrEqual(4)
  })
})

it('ends a turn in the log that the veto has ended for its client, and begins the next one', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-veto-'))
  try {
    const place = { kind: 'folder' as const, settings: readSettings({ dataFolder }, {}) }
    const answers = Array.from({ length: 4 }, (_, n) => broken(`call_${n}`))
    const { url, settled } = await openedOn(place, [...answers, { text: 'Hello.' }])
    const [form] = sdkForms
    const chat = form?.open(url, { isStreamed: false })
    chat?.say('List the files.')
    expect((await chat?.ask())?.calls).toEqual([])
    await settled()
    chat?.say('Say hello.')
    expect((await chat?.ask())?.text).toBe('Hello.')
    await settled()
    await proxy?.close()
    await fronts?.close()
    const ends = await endsIn(join(dataFolder, 'weir.db'))
    expect(ends).toEqual([
      ['failed', 'Weir has refused the calls of 4 answers in a row, the last one as call.denied'],
      ['answered', expect.any(String)],
    ])
  } finally {
    rmSync(dataFolder, { recursive: true })
  }
})

/** The outcomes and reasons of the ended turns. */
async function endsIn(file: string): Promise<[string, string][]> {
  const bus = await openEmbeddedBus({ file, clock: systemClock })
  const ends: [string, string][] = []
  for (const { partition } of await bus.ends('weir.activity'))
    for (const { value } of await bus.read({
      topic: 'weir.activity',
      partition,
      from: 0,
      limit: 10_000,
    })) {
      const message = decode(value ?? new Uint8Array())
      if (message.type === 'turn-finished') ends.push([message.outcome, message.reason])
    }
  await bus.close()
  return ends
}
