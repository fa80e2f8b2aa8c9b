// The store of an operator's settings, for any kind of them.

import { describe, expect, it } from '@jest/globals'
import { encode } from '../../../../shared/codec/codec.ts'
import type { RecordToAppend, StoredRecord } from '../../../../shared/contract/bus.ts'
import type { OperatorStop } from '../../../../shared/contract/messages.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
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
function tableWith(records: Record<string, Uint8Array> = {}) {
  const values = new Map<string, Uint8Array>(Object.entries(records))
  const bus = {
    clock: { now: () => 7 } as never,
    async append(added: RecordToAppend[]) {
      for (const { key, value } of added)
        if (value === null) values.delete(key)
        else values.set(key, value)
      return [] as never
    },
    async list({ prefix }: { prefix: string }): Promise<StoredRecord[]> {
      return [...values]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, value]) => ({ key, value }) as StoredRecord)
    },
  }
  return { bus, topicPrefix: '', keys: () => [...values.keys()] }
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

  it('is named with the command that removes it', async () => {
    const table = tableWith({ 'stop:agent:bank': foreign })
    await expect(readableSettings(setting, table)).rejects.toMatchObject({
      code: 'policies.unreadable',
      message:
        'the record stop:agent:bank in policies is a setting-removed; remove it with weir release agent:bank',
    })
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
