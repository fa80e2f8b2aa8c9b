// The store of an operator's settings, for any kind of them.

import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import { decode, encode } from '../../../../shared/codec/codec.ts'
import type { RecordToAppend, StoredRecord } from '../../../../shared/contract/bus.ts'
import type { Message, OperatorStop } from '../../../../shared/contract/messages.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { auditSettingBytesMax } from '../../../../shared/runtime/settings/audited-change.ts'
import {
  type OperatorSetting,
  placeSetting,
  readableSettings,
  removeStored,
  storedSettings,
} from '../../../../shared/runtime/settings/operator-setting.ts'

const setting: OperatorSetting<'operator-stop'> = {
  kind: 'stop',
  scope: 'stop:',
  schema: 'operator-stop',
  unknown: (id, ids) => new WeirError('stop.unknown', `${id} is not one of ${ids.join(', ')}`),
  limit: { max: 2, error: (count) => new WeirError('stop.taken', `${count} are in force`) },
}

const stopOf = (name: string, reason = 'wrong transfers'): OperatorStop => ({
  type: 'operator-stop',
  scope: 'agent',
  name,
  mode: 'drain',
  reason,
  setBy: 'anna',
  setAt: 0,
})

const foreign = encode({ type: 'setting-removed', setting: 'stop:x', setBy: 'anna', setAt: 0 })

/** A table of one partition, in memory. */
function tableWith(
  records: Record<string, Uint8Array> = {},
  { hasAudit = true, appendsWhole = true } = {},
) {
  const values = new Map<string, Uint8Array>(Object.entries(records))
  const evidence: Message[] = []
  const bus = {
    appendsWhole,
    clock: { now: () => 7 } as never,
    async append(added: RecordToAppend[]) {
      if (!hasAudit && added.some(({ topic }) => topic === 'audit'))
        throw new WeirError('bus.topic-missing', 'there is no topic audit')
      for (const { topic, key, value } of added)
        if (topic === 'audit') evidence.push(decode(value as Uint8Array))
        else if (value === null) values.delete(key)
        else values.set(key, value)
      return [] as never
    },
    async list({ prefix }: { prefix: string }): Promise<StoredRecord[]> {
      return [...values]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, value]) => ({ key, value }) as StoredRecord)
    },
  }
  return { bus, topicPrefix: '', evidence, keys: () => [...values.keys()] }
}

describe('the settings of one kind', () => {
  it('are listed by their scope, and those of other kinds are left out', async () => {
    const table = tableWith({ 'budget:a': foreign })
    await placeSetting(setting, table, stopOf('b'))
    await placeSetting(setting, table, stopOf('a'))
    const stored = await storedSettings(setting, table)
    expect(stored).toEqual([
      { id: 'agent:a', value: stopOf('a') },
      { id: 'agent:b', value: stopOf('b') },
    ])
    expect(await readableSettings(setting, table)).toEqual([stopOf('a'), stopOf('b')])
  })

  it('replace one of the same scope, also at the limit, and refuse a further one', async () => {
    const table = tableWith()
    for (const name of ['a', 'b', 'a']) await placeSetting(setting, table, stopOf(name, name))
    await placeSetting(setting, table, stopOf('b', 'again'))
    await expect(placeSetting(setting, table, stopOf('c'))).rejects.toThrow('2 are in force')
    expect((await readableSettings(setting, table)).map(({ reason }) => reason)).toEqual([
      'a',
      'again',
    ])
  })
})

describe('a record that cannot be read (OPERATOR-SETTING-1)', () => {
  it.each([
    ['of another type', foreign],
    ['that is no message', Uint8Array.of(1, 2, 3)],
  ])('%s stays in the list, and can be removed', async (_, value) => {
    const table = tableWith({ 'stop:agent:bank': value })
    expect(await storedSettings(setting, table)).toEqual([{ id: 'agent:bank', value: undefined }])
    await expect(readableSettings(setting, table)).rejects.toThrow()
    await removeStored(setting, table, { id: 'agent:bank', by: 'bob' })
    expect(table.keys()).toEqual(['removed:stop:agent:bank'])
  })

  it.each([
    ['of another type', foreign, /^is a setting-removed$/],
    ['that is no message', Uint8Array.of(1, 2, 3), /^cannot be read: .+$/],
  ])('%s is named with the fault and the command that removes it', async (_, value, fault) => {
    const table = tableWith({ 'stop:agent:bank': value })
    const error = await readableSettings(setting, table).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'policies.unreadable' })
    const [, found = '', remedy] =
      /^the record stop:agent:bank in policies (.+); (.+)$/.exec((error as Error).message) ?? []
    expect(found).toMatch(fault)
    expect(remedy).toBe('remove it with weir release agent:bank')
  })
})

it('a removal of an unknown setting changes nothing and names the known ones', async () => {
  const table = tableWith()
  await placeSetting(setting, table, stopOf('a'))
  await expect(removeStored(setting, table, { id: 'agent:x', by: 'bob' })).rejects.toThrow(
    'agent:x is not one of agent:a',
  )
  expect(table.keys()).toEqual(['stop:agent:a'])
})

describe('the evidence of a change', () => {
  const shown = ({ reason }: { reason: string }) =>
    JSON.stringify({ scope: 'agent', name: 'b', mode: 'drain', reason })

  it('has its author with the proof of the name, and the setting before and after', async () => {
    const table = tableWith()
    await placeSetting(setting, table, stopOf('b', 'first'))
    const proven = { ...table, identity: 'authenticated' as const }
    await placeSetting(setting, proven, stopOf('b', 'second'))
    await removeStored(setting, proven, { id: 'agent:b', by: 'bob' })
    const change = { type: 'audit-changed', setting: 'stop:agent:b', isRemoved: false, at: 7 }
    const [first, second] = [shown({ reason: 'first' }), shown({ reason: 'second' })]
    expect(table.evidence).toMatchObject([
      { ...change, by: 'anna', identity: 'claimed', before: '', after: first },
      { ...change, by: 'anna', identity: 'authenticated', before: first, after: second },
      { ...change, isRemoved: true, by: 'bob', before: second, after: '' },
    ])
  })

  it('names the size and the hash of a setting that is too large for it', async () => {
    const table = tableWith()
    await placeSetting(setting, table, stopOf('b', 'x'.repeat(auditSettingBytesMax)))
    expect(table.evidence).toMatchObject([
      { after: expect.stringMatching(/^\{"bytes":\d{6},"sha256":"[0-9a-f]{64}"\}$/) },
    ])
  })

  it('comes after the change on Kafka, so a stop works while nobody can write evidence', async () => {
    const table = tableWith({}, { appendsWhole: false })
    const { append } = table.bus
    table.bus.append = async (added) => {
      if (added.some(({ topic }) => topic === 'audit'))
        throw new WeirError('bus.unauthorized', 'no right to write to audit')
      return append(added)
    }
    const emitted = once(process, 'warning')
    await placeSetting(setting, table, stopOf('b'))
    expect(table.keys()).toEqual(['stop:agent:b'])
    expect(String(await emitted)).toContain(
      'stop:agent:b is in force, but has no evidence in audit',
    )
  })

  it('is left out in a log of an earlier Weir, so a stop still works while a fleet is upgraded', async () => {
    const table = tableWith({}, { hasAudit: false })
    await placeSetting(setting, table, stopOf('b'))
    expect(table.keys()).toEqual(['stop:agent:b'])
    expect(table.evidence).toEqual([])
  })
})
