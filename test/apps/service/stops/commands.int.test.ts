// `weir stop`, `weir stops` and `weir release` on a data folder of the embedded bus.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { withRegistry } from '../../../../apps/history/registry.ts'
import { changeSetting, listSettings, removalOf } from '../../../../apps/service/setting-command.ts'
import { type StopOptions, stopChange } from '../../../../apps/service/stops/change.ts'
import { stopListOf } from '../../../../apps/service/stops/list.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { output, printed } from '../../../support/output.ts'

let folder: string
let settings: Settings
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-stops-'))
  settings = readSettings(
    { dataFolder: join(folder, 'data') },
    { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' },
  )
  await withRegistry(settings, async () => {}) // makes the log
})
afterEach(() => rmSync(folder, { recursive: true }))

const nowhere = () => output().stream

const stop = (
  options: Partial<StopOptions>,
  streams: { out?: NodeJS.WriteStream; errors?: NodeJS.WriteStream },
  of = settings,
) =>
  changeSetting(stopChange, { reason: 'wrong transfers', by: 'anna', ...options }, of, {
    out: nowhere(),
    errors: nowhere(),
    ...streams,
  })
const set = (options: Partial<StopOptions>) => printed((out) => stop(options, { out }))
const free = (id: string) =>
  printed((out) =>
    changeSetting(removalOf('stop'), { id, by: 'bob' }, settings, { out, errors: out }),
  )
const list = (options = {}) =>
  printed((out) => listSettings(stopListOf(options), options, settings, out))

describe('weir stop', () => {
  it('stops a scope, and weir stops shows who, when, how and why', async () => {
    expect(await list()).toBe('nothing is stopped\n')
    expect(await set({ tool: 'pay_*', now: true })).toBe(
      "tool:pay_* is stopped: within a second no such call starts; running ones are stopped\nto release it: weir release 'tool:pay_*'\n",
    )
    await set({ agent: 'bank' })
    expect(await list()).toMatch(
      /^agent:bank {2}drain {2}since 20\S+ \S+ UTC by anna: wrong transfers\ntool:pay_\* {2}now {2}since .* by anna: wrong transfers\n$/,
    )
    const [first] = (await list({ json: true })).split('\n')
    expect(JSON.parse(first ?? '')).toEqual({
      id: 'agent:bank',
      scope: 'agent',
      name: 'bank',
      mode: 'drain',
      reason: 'wrong transfers',
      setBy: 'anna',
      setAt: expect.any(Number),
    })
  })

  it('keeps the newest releases with their authors', async () => {
    const count = limits.settingsRemovedKept + 2
    for (let n = 0; n < count; n += 1) {
      await set({ conversation: `released-${n}` })
      await free(`conversation:released-${n}`)
    }
    const lines = (await list({ released: true })).trim().split('\n')
    expect(lines).toHaveLength(limits.settingsRemovedKept)
    expect(lines[0]).toMatch(
      new RegExp(`^conversation:released-${count - 1} {2}released 20\\S+ \\S+ UTC by bob$`),
    )
  })

  it('warns about an agent that the log does not know, and stops it all the same', async () => {
    const warned = printed((errors) => stop({ agent: 'bnak' }, { errors }))
    expect(await warned).toBe(
      'weir: warning: no message to an agent bnak and no round of such a guest is in the log\n',
    )
    expect(await list()).toContain('agent:bnak')
    expect(await printed((errors) => stop({ all: true }, { errors }))).toBe('')
  })

  it.each([
    [{ tool: 'nix_*' }, 'no offer of a tool nix_* is in the log'],
    [{ conversation: 'order-7' }, 'no conversation order-7 is in the log'],
  ])('warns about the scope %j, which the log does not know', async (scope, text) => {
    const warned = await printed((errors) => stop(scope, { errors }))
    expect(warned).toBe(`weir: warning: ${text}\n`)
  })

  it('knows the tools that requests offered, and conversations with messages', async () => {
    await withRegistry(settings, async ({ bus, topicPrefix }) => {
      const place = { conversation: 'order-7', turn: 1, round: 1 }
      const message: Message = {
        type: 'model-opened',
        ...place,
        offered: ['nix_build'],
        expiresAt: 1,
      }
      const topic = `${topicPrefix}model-deltas`
      await bus.append([toRecord({ topic, partition: 0, message })])
    })
    const warned = (tool: string) => printed((errors) => stop({ tool }, { errors }))
    expect(await warned('nix_*')).toBe('')
    expect(await warned('nixbuild')).toContain('did you mean nix_build?')
  })

  it('takes no flag for the name of a conversation that is missing', async () => {
    const missing = { code: 'usage', message: expect.stringContaining('is the next flag') }
    await expect(set({ tree: '--now' })).rejects.toMatchObject(missing)
    await expect(set({ conversation: '--drain' })).rejects.toMatchObject(missing)
    expect(await set({ conversation: '--other' })).toContain('conversation:--other is stopped')
  })

  it('refuses a second stop of the same scope, and names the first', async () => {
    await set({ all: true })
    await expect(set({ all: true, reason: 'another' })).rejects.toMatchObject({
      code: 'stop.taken',
      message: expect.stringMatching(
        /^all is stopped already since .* by anna \(wrong transfers\); stop it at once with --now, or release it: weir release all$/,
      ),
    })
  })

  it('can turn a stop that drains into one at once, and not back', async () => {
    await set({ all: true })
    await set({ all: true, now: true, reason: 'it got worse' })
    expect(await list()).toMatch(/^all {2}now .*it got worse\n$/)
    await expect(set({ all: true })).rejects.toMatchObject({ code: 'stop.taken' })
    await expect(set({ all: true, now: true })).rejects.toMatchObject({ code: 'stop.taken' })
  })

  it('refuses one more than the limit', async () => {
    await withRegistry(settings, async (registry) => {
      for (let n = 0; n < limits.stopsMax; n++)
        await stopChange.write(registry, stopChange.read({ agent: `a${n}`, reason: 'why' }), {
          by: 'anna',
          settings,
        })
    })
    await expect(set({ all: true })).rejects.toMatchObject({
      code: 'stop.taken',
      message: expect.stringContaining('64 stops are in force, which is the limit'),
    })
  })
})

describe('weir release', () => {
  it('releases a stop, and the others stay', async () => {
    await set({ all: true })
    await set({ agent: 'bank' })
    expect(await free('all')).toBe(
      'all is released: new questions run again, and turns that have ended stay ended\n',
    )
    expect(await list()).toMatch(/^agent:bank {2}drain/)
  })

  it('of a tool ends no turn, so its text names calls only', async () => {
    await set({ tool: 'pay_*' })
    expect(await free('tool:pay_*')).toBe('tool:pay_* is released: its calls run again\n')
  })

  it('refuses an unknown id, and lists the known ones', async () => {
    await set({ agent: 'bank' })
    await expect(free('agent:\u001b[31mbanc')).rejects.toMatchObject({
      code: 'stop.unknown',
      message: 'no stop has the id agent:\\u{1b}[31mbanc; stops in force: agent:bank',
    })
  })

  it('of a stop that cannot be read, which weir stops shows, frees everything', async () => {
    await withRegistry(settings, ({ bus, topicPrefix }) =>
      bus.append([
        {
          topic: `${topicPrefix}policies`,
          partition: 0,
          key: 'stop:odd',
          value: Buffer.from('garbage'),
        },
      ]),
    )
    expect(await list()).toBe('odd  cannot be read; nothing starts until it is released\n')
    expect(JSON.parse(await list({ json: true }))).toMatchObject({ id: 'odd', scope: null })
    await free('odd')
    expect(await list()).toBe('nothing is stopped\n')
  })
})
