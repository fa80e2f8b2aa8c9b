// Somebody edits the evidence in the file of a data folder, and the check names the record.

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { audit } from '../../../../apps/history/audit/audit.ts'
import { type VerifiedAudit, verifyAudit } from '../../../../apps/history/audit/verify.ts'
import { withRegistry } from '../../../../apps/history/registry.ts'
import { changeSetting, removalOf } from '../../../../apps/service/setting-command.ts'
import { stopChange } from '../../../../apps/service/stops/change.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { output, printed } from '../../../support/output.ts'
import { runSql } from '../../../support/run-sql.ts'

let folder: string
let copies = 0
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-audit-'))
  const settings = settingsOf('kept')
  const streams = { out: output().stream, errors: output().stream }
  await withRegistry(settings, async () => {})
  for (const agent of ['a', 'b', 'c', 'd'])
    await changeSetting(stopChange, { agent, reason: 'a test', by: 'ann' }, settings, streams)
  await changeSetting(removalOf('stop'), { id: 'agent:a', by: 'bob' }, settings, streams)
})
afterAll(() => rmSync(folder, { recursive: true }))

function settingsOf(name: string): Settings {
  return readSettings({ dataFolder: join(folder, name) }, { WEIR_LOG_LEVEL: 'silent' })
}

/** A copy of the log after this SQL on the partition with the evidence. */
function edited(...sql: string[]): Settings {
  copies += 1
  const settings = settingsOf(`copy-${copies}`)
  cpSync(join(folder, 'kept'), settings.dataFolder, { recursive: true })
  for (const statement of sql)
    runSql(join(settings.dataFolder, 'weir.db'), statement.replaceAll('AUDIT', '"weir.audit/0"'))
  return settings
}

async function verified(settings: Settings, expect?: string): Promise<VerifiedAudit> {
  const options = { json: true, ...(expect !== undefined && { expect }) }
  return JSON.parse(await printed((out) => verifyAudit(options, settings, out)))
}

const faultsIn = async (settings: Settings, expect?: string) =>
  (await verified(settings, expect)).faults.map(({ fault, offset }) => `${fault} ${offset}`)

/** The bytes of `ann`, and another name of the same length. */
const renamed = (offset: number) =>
  `UPDATE AUDIT SET value = unhex(replace(hex(value), '06616E6E', '06657665')) WHERE offset = ${offset}`

describe('weir audit --verify on a data folder', () => {
  it('finds no fault in a log as it was written, and a kept head proves that it is whole', async () => {
    const { faults, records, head, result } = await verified(settingsOf('kept'))
    expect({ faults, records, result }).toEqual({ faults: [], records: 5, result: 'unproven' })
    expect(head).toMatch(/^0\/0-4\/[0-9a-f]{64}$/)
    expect(await verified(settingsOf('kept'), head)).toMatchObject({
      result: 'whole',
      faults: [],
      unproven: [],
    })
  })

  it('calls no log whole without a head, also an emptied one, and exits with 3', async () => {
    const emptied = edited('DELETE FROM AUDIT')
    for (const settings of [settingsOf('kept'), emptied]) {
      const { stream, text } = output()
      expect(await verifyAudit({}, settings, stream)).toBe(3)
      expect(text()).toMatch(/^unproven {2}the newest records can be missing, also all records/)
      expect(text()).toMatch(/records: no fault, unproven\n/)
    }
    const { head } = await verified(settingsOf('kept'))
    expect(await faultsIn(emptied, head)).toEqual(['truncated 4'])
  })

  it('names a record with another author', async () => {
    const settings = edited(renamed(1))
    expect(await printed((out) => audit({ by: 'eve' }, settings, { out, errors: out }))).toContain(
      'stop:agent:b',
    )
    expect(await faultsIn(settings)).toEqual(['changed 1'])
    const text = await printed((out) => verifyAudit({}, settings, out))
    expect(text).toContain('changed  0/1: the writer of 2 saw another record in its place')
  })

  it('names the place of a deleted record, also of the first one', async () => {
    expect(await faultsIn(edited('DELETE FROM AUDIT WHERE offset = 2'))).toEqual(['missing 3'])
    expect(await faultsIn(edited('DELETE FROM AUDIT WHERE offset = 0'))).toEqual(['missing 1'])
  })

  it('names records that changed their places', async () => {
    const swapped = edited(
      'UPDATE AUDIT SET offset = 99 WHERE offset = 1',
      'UPDATE AUDIT SET offset = 1 WHERE offset = 2',
      'UPDATE AUDIT SET offset = 2 WHERE offset = 99',
    )
    expect(await faultsIn(swapped)).toEqual(['moved 1'])
  })

  it('finds a truncated end by the head of an earlier check, and exits with 1', async () => {
    const { head } = await verified(settingsOf('kept'))
    const settings = edited('DELETE FROM AUDIT WHERE offset >= 3')
    expect(await faultsIn(settings)).toEqual([])
    expect(await faultsIn(settings, head)).toEqual(['truncated 4'])
    expect(await verifyAudit({ expect: head }, settings, output().stream)).toBe(1)
  })

  it('finds that the whole partition of a head is gone', async () => {
    const { head } = await verified(settingsOf('kept'))
    expect(await faultsIn(settingsOf('kept'), head.replace('0/', '7/'))).toEqual(['truncated 4'])
  })

  it('lists a record whose id is lower than that of an earlier one: no hash covers ids', async () => {
    const settings = edited(
      "UPDATE AUDIT SET id = 'approval/0/999999/0' WHERE offset = 1",
      "UPDATE AUDIT SET id = 'approval/0/3/0' WHERE offset = 4",
    )
    expect(await printed((out) => audit({}, settings, { out, errors: out }))).toContain('by bob')
  })

  it.each(["x'00'", 'NULL', '(SELECT value FROM "weir.policies/0" LIMIT 1)', "x'0100000000'"])(
    'names a record whose value became %s, next to a head that is still there',
    async (value) => {
      const { head } = await verified(settingsOf('kept'))
      const settings = edited(`UPDATE AUDIT SET value = ${value} WHERE offset = 1`)
      expect(await faultsIn(settings, head)).toContain('changed 1')
    },
  )

  it('names a deleted begin in a log that keeps all evidence', async () => {
    const cut = edited(
      'DELETE FROM AUDIT WHERE offset < 3',
      "INSERT INTO trimmed VALUES ('weir.audit', 0, 3, 3, 0)",
    )
    expect(await faultsIn(cut)).toEqual(['deleted 3'])
  })

  it('proves the begin of a log with retention by a head from after the deletion alone', async () => {
    const { head: before } = await verified(settingsOf('kept'))
    const cut = edited(
      'DELETE FROM AUDIT WHERE offset < 3',
      "INSERT INTO trimmed VALUES ('weir.audit', 0, 3, 3, 0)",
    )
    const settings = { ...cut, retentionDays: 30 }
    expect(await verified(settings, before)).toMatchObject({
      result: 'unproven',
      faults: [],
      unproven: [expect.stringContaining('the records of partition 0 before 3 are deleted')],
    })
    const { head: after } = await verified(settings)
    expect(after).toMatch(/^0\/3-4\//)
    expect(await verified(settings, after)).toMatchObject({ result: 'whole' })
    expect(await faultsIn(settingsOf('kept'), after)).toEqual(['moved 0'])
  })

  it('prints the number of unreadable records to standard error if the output is JSON', async () => {
    const settings = edited("UPDATE AUDIT SET value = x'00' WHERE offset = 1")
    const [out, errors] = [output(), output()]
    await audit({ json: true }, settings, { out: out.stream, errors: errors.stream })
    expect(out.text().trim().split('\n')).toHaveLength(4)
    expect(errors.text()).toBe('1 record cannot be read\n')
  })

  it('refuses a head in another form', async () => {
    await expect(
      verifyAudit({ expect: '4' }, settingsOf('kept'), output().stream),
    ).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('--expect') })
  })
})
