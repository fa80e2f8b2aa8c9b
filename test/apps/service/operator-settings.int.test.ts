// One contract for each kind of an operator's settings, by its commands and in the console: setting,
// listing, refusing and removing one.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { withRegistry } from '../../../apps/history/registry.ts'
import { rulesChange } from '../../../apps/service/approvals/rules.ts'
import { budgetChange } from '../../../apps/service/budgets/change.ts'
import { budgetList } from '../../../apps/service/budgets/list.ts'
import { guardList } from '../../../apps/service/guards/list.ts'
import { operatorSettings } from '../../../apps/service/operator-settings.ts'
import { policyChange } from '../../../apps/service/policy/change.ts'
import { policyList } from '../../../apps/service/policy/shown-policy.ts'
import {
  changeSetting,
  listSettings,
  removalOf,
  type SettingChange,
  type SettingList,
} from '../../../apps/service/setting-command.ts'
import { stopChange } from '../../../apps/service/stops/change.ts'
import { stopListOf } from '../../../apps/service/stops/list.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { encode } from '../../../shared/codec/codec.ts'
import { removedSettings } from '../../../shared/runtime/settings/removed-settings.ts'
import {
  removalCommand,
  type SettingKind,
  settingKinds,
  settingWords,
} from '../../../shared/settings/setting-words.ts'
import { readSettings, type Settings } from '../../../shared/settings/settings.ts'
import { output, printed } from '../../support/output.ts'
import { type ConsoleServer, consoleServer } from '../http/console/console-server.ts'

type Flags = Record<string, unknown>
type Subject = {
  id: string
  /** The command that sets it, and flags that it refuses. */
  change: SettingChange<never, never, never>
  flags: Flags
  refuses: [string, Flags, RegExp][]
  list: SettingList<never, never>
  /** In the console: the change with a good body, the same with faults, and the listed settings. */
  route: string
  body: Flags
  faults: Flags[]
  path: string
  shown: (data: never) => unknown
  /** Next to the author. */
  set: object
}

const rules = (value: unknown) => JSON.stringify(value)
const money = { waitMs: 60_000, rules: [{ name: 'money', tools: ['refund'] }] }

const subjects: Record<SettingKind, Subject> = {
  stop: {
    id: 'agent:helper',
    change: stopChange as never,
    flags: { agent: 'helper', reason: 'wrong transfers' },
    refuses: [
      ['no scope', { agent: undefined }, /^0 scopes are given; give exactly one/],
      ['two scopes', { all: true }, /^2 scopes are given/],
      ['two modes', { now: true, drain: true }, /^--drain and --now are given/],
      ['a blank reason', { reason: ' ' }, /^--reason is blank/],
      ['a long reason', { reason: 'x'.repeat(513) }, /^--reason has 513 bytes; at most 512/],
      ['an empty agent', { agent: '' }, /^--agent '' has 0 bytes/],
      ['a bad pattern', { agent: undefined, tool: 'pay it' }, /^--tool 'pay it' matches no tool/],
      ['no conversation', { agent: undefined, conversation: '' }, /^--conversation '' /],
    ],
    list: stopListOf({}) as never,
    route: 'stop',
    body: { scope: 'agent', name: 'helper', mode: 'drain', reason: 'wrong transfers' },
    faults: [{ reason: ' ' }, { name: '' }, { scope: 'world' }, { mode: 'later' }],
    path: 'stops',
    shown: ({ stops }: { stops: object[] }) => stops[0],
    set: { id: 'agent:helper', mode: 'drain', reason: 'wrong transfers' },
  },
  budget: {
    id: 'acme/agent:bank/day/usd',
    change: budgetChange as never,
    flags: { tenant: 'acme', agent: 'bank', window: 'day', money: '20USD' },
    refuses: [['no amount', { money: undefined }, /^no amount is given/]],
    list: budgetList as never,
    route: 'budget',
    body: {
      tenant: 'acme',
      subject: 'agent',
      name: 'bank',
      window: 'day',
      unit: 'usd',
      hard: '20USD',
      soft: '',
      unpriced: 'deny',
    },
    faults: [
      { hard: '20' },
      { hard: '1USD', soft: '2USD' },
      { hard: '', soft: '' },
      { window: 'week' },
    ],
    path: 'budgets',
    shown: ({ budgets }: { budgets: object[] }) => budgets[0],
    set: { id: 'acme/agent:bank/day/usd', hard: 20e9, soft: null, unpriced: 'deny' },
  },
  /** The rules of approval: the one guard that an operator writes. */
  guard: {
    id: 'approval',
    change: rulesChange as never,
    flags: { text: rules(money) },
    refuses: [
      ['no JSON', { text: '{' }, /JSON/],
      ['no object', { text: '[]' }, /must be an object with rules/],
      ['a rule without a name', { text: rules({ rules: [{}] }) }, /it has no name/],
      ['an unknown key', { text: rules({ rule: [] }) }, /"rule", which is no key here/],
      ['a missing file', { text: undefined, file: 'none.json' }, /none\.json/],
    ],
    list: guardList as never,
    route: 'approval-rules',
    body: { rules: rules(money) },
    faults: ['{', '[]', rules({ rules: [{}] }), rules({ rule: [] })].map((text) => ({
      rules: text,
    })),
    path: 'guards',
    shown: ({ guards }: { guards: object[] }) => guards[0],
    set: { name: 'approval', mode: 'enforce', deadlineMs: 60_000, rules: rules(money.rules) },
  },
  policy: {
    id: 'helper',
    change: policyChange as never,
    flags: { agent: 'helper', changes: ['loop.cycleLaps=2'] },
    refuses: [
      [
        'an agent in the place of a value',
        { agent: 'loop.cycleLaps=2' },
        /'loop\.cycleLaps=2' is in the place of the agent's name/,
      ],
      ['no value', { changes: [] }, /nothing to set: give KEY=VALUE/],
      [
        'a bad value',
        { changes: ['loop.cycleLaps=0'] },
        /^loop\.cycleLaps is 0; must be a whole number from 1 to 1000/,
      ],
      [
        'an unknown threshold',
        { changes: ['loop.identicalFails=2'] },
        /"loop\.identicalFails=2" names no threshold; did you mean loop\.identicalFailures\? There are loop\./,
      ],
      [
        'a nearly known threshold',
        { changes: ['loop.identicalFailure=2'] },
        /did you mean loop\.identicalFailures\?/,
      ],
      [
        'an unknown rule',
        { changes: ['rule.cycel=shadow'] },
        /"rule\.cycel=shadow" names no rule; did you mean rule\.cycle\? There are rule\.identical-failure, /,
      ],
      [
        'a rule as in a file',
        { changes: ['loop.rules.cycel=shadow'] },
        /"loop\.rules\.cycel=shadow" names no rule; did you mean rule\.cycle\?/,
      ],
      ['a missing file', { changes: [], file: 'missing.json' }, /missing\.json does not exist/],
    ],
    list: policyList as never,
    route: 'policy',
    body: { agent: 'helper', key: 'loop.cycleLaps', value: '2' },
    faults: [{ value: 'many' }, { key: 'loop.laps' }, { agent: '' }],
    path: 'policies?agent=helper',
    shown: ({ policy }: { policy: { set: object } }) =>
      Object.keys(policy.set).length === 0 ? undefined : policy,
    set: { set: { 'loop.cycleLaps': '2' } },
  },
}

const removalsIn = (from: Settings) => withRegistry(from, removedSettings)

describe.each(settingKinds)('the commands of a %s', (kind) => {
  const { id, change, flags, refuses, list } = subjects[kind]
  const { removed, effect } = settingWords[kind]

  let folder: string
  let settings: Settings
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-settings-'))
    settings = readSettings({ dataFolder: join(folder, 'data') }, { WEIR_LOG_LEVEL: 'silent' })
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const makesLog = () => withRegistry(settings, async () => {})
  const set = (given: Flags = {}) =>
    printed((out) =>
      changeSetting(change, flagsWith(given), settings, {
        out,
        errors: output().stream,
      }),
    )
  /** Without the flags that are undefined: a missing flag has no name. */
  const flagsWith = (given: Flags) =>
    Object.fromEntries(
      Object.entries({ ...flags, by: 'anna', ...given }).filter(([, value]) => value !== undefined),
    ) as never
  const listed = () => printed((out) => listSettings(list, {} as never, settings, out))
  const remove = (given: string) =>
    printed((out) =>
      changeSetting(removalOf(kind), { id: given, by: 'bob' }, settings, { out, errors: out }),
    )

  it('set it, list it, and remove it with the effect and the author', async () => {
    await makesLog()
    const none = await listed()
    expect(await set()).toMatch(/\n$/)
    expect(await listed()).toContain(id)
    expect(await remove(id)).toBe(`${id} is ${removed}: ${effect(id)}\n`)
    expect(await listed()).toBe(none)
    expect(await removalsIn(settings)).toMatchObject([
      { setting: operatorSettings[kind].scope + id, setBy: 'bob' },
    ])
  })

  it.each(refuses)('refuse %s before they open a log', async (_, wrong, message) => {
    await expect(set(wrong)).rejects.toMatchObject({
      code: expect.stringMatching(/^(usage|settings\.invalid)$/),
      message: expect.stringMatching(message),
    })
    expect(existsSync(settings.dataFolder)).toBe(false)
  })

  it('refuse to remove an unknown one, and name the one that is there', async () => {
    await makesLog()
    await set()
    const unknown = 'another\u001b[31m'
    const fault: Error = await remove(unknown).then(
      () => new Error('it was removed'),
      (error) => error,
    )
    expect(fault).toMatchObject({ code: `${kind}.unknown` })
    expect(fault.message).toContain(id)
  })

  it.each([
    ['a foreign record', encode({ type: 'operator-limits', caps: defaultPolicy.caps })],
    ['garbage', Buffer.from('garbage')],
  ])('remove %s, which the list names if it can', async (title, value) => {
    const { scope } = operatorSettings[kind]
    await withRegistry(settings, ({ bus, topicPrefix }) =>
      bus.append([{ topic: `${topicPrefix}policies`, partition: 0, key: `${scope}odd`, value }]),
    )
    const shown = await listed().catch((error: Error) => error.message)
    if (title !== 'garbage') expect(shown).toContain('odd')
    expect(await remove('odd')).toContain(`odd is ${removed}`)
    await expect(remove('odd')).rejects.toMatchObject({ code: `${kind}.unknown` })
  })

  it('create a log for a setting that counts from the first request on, and for no other', async () => {
    if (change.createsLog) expect(await set()).toMatch(/\n$/)
    else await expect(set()).rejects.toMatchObject({ code: 'bus.not-a-database' })
    expect(existsSync(settings.dataFolder)).toBe(change.createsLog === true)
  })

  it('have the words of the command that other texts name', () => {
    expect(removalCommand(kind, 'a b')).toMatch(/^weir [a-z ]+ 'a b'$/)
  })
})

describe.each(settingKinds)('a %s in the console', (kind) => {
  const { id, route, body, faults, path, shown, set } = subjects[kind]

  let server: ConsoleServer
  beforeAll(async () => {
    server = await consoleServer([])
  })
  afterAll(async () => server[Symbol.asyncDispose]())

  const listed = async () =>
    shown((await (await fetch(`${server.url}/console/api/${path}`)).json()) as never)
  const change = async (to: string, fields: object) => {
    const headers = { 'content-type': 'application/json', origin: server.url }
    const options = { method: 'POST', headers, body: JSON.stringify(fields) }
    return (await fetch(`${server.url}/console/api/${to}`, options)).status
  }
  const remove = (given: string) => change('remove', { setting: kind, id: given })

  it('is refused with a fault, and nothing is set', async () => {
    for (const fault of faults) expect(await change(route, { ...body, ...fault })).toBe(400)
    expect(await listed()).toBeUndefined()
  })

  it('is set with its author, listed, and removed by the route of every kind', async () => {
    expect(await change(route, body)).toBe(200)
    expect(await listed()).toMatchObject({ ...set, setBy: expect.stringMatching(/./) })
    expect(await remove('another')).toBe(404)
    expect(await remove(id)).toBe(200)
    expect(await listed()).toBeUndefined()
    const own = readSettings({ dataFolder: server.folder }, { WEIR_LOG_LEVEL: 'silent' })
    expect(await removalsIn(own)).toMatchObject([{ setBy: expect.stringMatching(/./) }])
    expect(await remove(id)).toBe(404)
  })
})
