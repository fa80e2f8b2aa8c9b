// One contract for each kind of an operator's settings: its commands, and the console.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { withRegistry } from '../../../apps/history/registry.ts'
import { budgetList } from '../../../apps/service/budgets/list.ts'
import { guardList } from '../../../apps/service/guards/list.ts'
import { operatorSettings } from '../../../apps/service/operator-settings.ts'
import { policyList } from '../../../apps/service/policy/shown-policy.ts'
import { changeSetting, listSettings, removalOf } from '../../../apps/service/setting-command.ts'
import { stopListOf } from '../../../apps/service/stops/list.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { removedSettings } from '../../../shared/runtime/settings/removed-settings.ts'
import {
  removalCommand,
  type SettingKind,
  settingKinds,
  settingWords,
} from '../../../shared/settings/setting-words.ts'
import { readSettings, type Settings } from '../../../shared/settings/settings.ts'
import { consoleServer } from '../http/console/console-server.ts'

type Case = {
  id: string
  message: Message
  list: (settings: Settings, out: NodeJS.WriteStream) => Promise<void>
  /** The path of its data in the console. */
  path: string
}

const author = { setBy: 'anna', setAt: 1 }

const cases: Record<SettingKind, Case> = {
  stop: {
    id: 'agent:helper',
    message: {
      type: 'operator-stop',
      scope: 'agent',
      name: 'helper',
      mode: 'drain',
      reason: 'wrong transfers',
      ...author,
    },
    list: (settings, out) => listSettings(stopListOf({}), {}, settings, out),
    path: 'stops',
  },
  budget: {
    id: 'acme/tenant/day/tokens',
    message: {
      type: 'operator-budget',
      tenant: 'acme',
      scope: 'tenant',
      name: '',
      window: 'day',
      unit: 'tokens',
      soft: null,
      hard: 1_000,
      unpriced: 'deny',
      ...author,
    },
    list: (settings, out) => listSettings(budgetList, {}, settings, out),
    path: 'budgets',
  },
  guard: {
    id: 'strict',
    message: {
      type: 'guard-registration',
      name: 'strict',
      version: '1',
      tools: [{ pattern: 'pay_*', mode: 'shadow' }],
      deadlineMs: 1_000,
      onTimeout: 'deny',
      rules: null,
      registeredAt: 1,
      setBy: 'anna',
    },
    list: (settings, out) => listSettings(guardList, {}, settings, out),
    path: 'guards',
  },
  policy: {
    id: 'helper',
    message: {
      type: 'agent-policy',
      agent: 'helper',
      entries: [{ key: 'loop.cycleLaps', value: '2' }],
      ...author,
    },
    list: (settings, out) => listSettings(policyList, {}, settings, out),
    path: 'policies?agent=helper',
  },
}

let folder: string
let settings: Settings
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-settings-'))
  settings = readSettings({ dataFolder: join(folder, 'data') }, { WEIR_LOG_LEVEL: 'silent' })
})
afterEach(() => rmSync(folder, { recursive: true }))

async function printed(command: (out: NodeJS.WriteStream) => Promise<unknown>): Promise<string> {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  await command(stream as unknown as NodeJS.WriteStream)
  return text
}

const place = (message: Message, to = settings) =>
  withRegistry(to, ({ bus, topicPrefix }) =>
    bus.append([toRecord({ topic: `${topicPrefix}policies`, partition: 0, message })]),
  )
const removalsIn = (from = settings) => withRegistry(from, removedSettings)

describe.each(settingKinds)('the commands of a %s', (kind) => {
  const { id, message, list } = cases[kind]
  const { removed, effect } = settingWords[kind]
  const remove = (given: string) =>
    printed((out) =>
      changeSetting(removalOf(kind), { id: given, by: 'bob' }, settings, { out, errors: out }),
    )

  it('list it, and remove it with the effect and the author', async () => {
    await place(message)
    expect(await printed((out) => list(settings, out))).toContain(id)
    expect(await remove(id)).toBe(`${id} is ${removed}: ${effect(id)}\n`)
    expect(await printed((out) => list(settings, out))).not.toContain(id)
    expect(await removalsIn()).toMatchObject([
      { setting: operatorSettings[kind].scope + id, setBy: 'bob' },
    ])
  })

  it('refuse to remove an unknown one, and name the one that is there', async () => {
    await place(message)
    await expect(remove('another')).rejects.toMatchObject({
      code: `${kind}.unknown`,
      message: expect.stringContaining(id),
    })
  })

  it('remove a record that cannot be read', async () => {
    const { scope } = operatorSettings[kind]
    await withRegistry(settings, ({ bus, topicPrefix }) => {
      const value = Buffer.from('garbage')
      return bus.append([
        { topic: `${topicPrefix}policies`, partition: 0, key: `${scope}odd`, value },
      ])
    })
    expect(await remove('odd')).toContain(`odd is ${removed}`)
    await expect(remove('odd')).rejects.toMatchObject({ code: `${kind}.unknown` })
  })

  it('have the words of the command that other texts name', () => {
    expect(removalCommand(kind, 'a b')).toMatch(/^weir [a-z ]+ 'a b'$/)
  })
})

describe.each(settingKinds)('a %s in the console', (kind) => {
  const { id, message, path } = cases[kind]

  it('is listed, and removed with the author by the route of every kind', async () => {
    await using server = await consoleServer([])
    const own = readSettings({ dataFolder: server.folder }, { WEIR_LOG_LEVEL: 'silent' })
    await place(message, own)
    const shown = async () => (await fetch(`${server.url}/console/api/${path}`)).text()
    expect(await shown()).toContain(kind === 'policy' ? '"set":{"loop.cycleLaps":"2"}' : id)
    const remove = async (given: string) => {
      const headers = { 'content-type': 'application/json', origin: server.url }
      const body = JSON.stringify({ setting: kind, id: given })
      return (await fetch(`${server.url}/console/api/remove`, { method: 'POST', headers, body }))
        .status
    }
    expect(await remove('another')).toBe(404)
    expect(await remove(id)).toBe(200)
    expect(await removalsIn(own)).toMatchObject([{ setBy: expect.stringMatching(/./) }])
    expect(await remove(id)).toBe(404)
  })
})
