// A data folder is backed up while a program works in it, and a restored one goes on.

import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { pino } from 'pino'
import { verifyAudit } from '../../../../apps/history/audit/verify.ts'
import { withLog } from '../../../../apps/history/open-log.ts'
import { replay } from '../../../../apps/replay/replay.ts'
import { backUp } from '../../../../apps/service/backup/backup.ts'
import { restore } from '../../../../apps/service/backup/restore.ts'
import { changeSetting, removalOf } from '../../../../apps/service/setting-command.ts'
import { always, call, says, scriptedModel } from '../../../../client/testing/testing.ts'
import { defineAgent, defineTool, Weir, type WeirOptions } from '../../../../client/weir.ts'
import { personHere } from '../../../../services/approval/performer/person.ts'
import { addTenantKey } from '../../../../shared/bus/encryption/tenant-keys.ts'
import { DatabaseSync } from '../../../../shared/bus/sqlite.ts'
import { messageOf } from '../../../../shared/codec/message-of.ts'
import type { TopicName } from '../../../../shared/contract/topology.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { until } from '../../../support/inbox.ts'
import { output } from '../../../support/output.ts'

const settingsIn = (dataFolder: string): Settings =>
  readSettings({ dataFolder }, { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' })

/** Each start of a tool, in one list for each folder. */
type Starts = string[]

/** The program before the backup calls tools, and its tool `wait` never ends. */
async function opened(dataFolder: string, starts: Starts, { isFirst }: { isFirst: boolean }) {
  const { promise: hanging, resolve: started } = Promise.withResolvers<void>()
  const tool = (name: string, run: () => unknown = () => 'done') =>
    defineTool({
      name,
      description: 'Acts.',
      parameters: { type: 'object' },
      idempotent: true, // even such a call does not start again
      run() {
        starts.push(name)
        return run()
      },
    })
  const wait = () => {
    if (!isFirst) return 'done'
    started()
    return new Promise(() => {})
  }
  const agent = (name: string, ...calls: string[]) =>
    defineAgent({
      name,
      model: scriptedModel(
        ...calls.filter(() => isFirst).map((one) => says(call(one))),
        always(says(`This is ${name}.`)),
      ),
      system: 'Help.',
      tools: [tool('wait', wait), tool('pay'), tool('look')],
      graceMs: 1,
    })
  const approvals = { rules: [{ name: 'payments', tools: ['pay'] }] }
  const options: WeirOptions = {
    agents: [agent('talker'), agent('payer', 'pay'), agent('waiter', 'wait')],
    dataFolder,
    approvals,
    log: pino({ level: 'silent' }),
  }
  return { weir: await Weir.open(options), hanging }
}

async function recordsOf(dataFolder: string, topic: TopicName) {
  return withLog(settingsIn(dataFolder), async (log) => {
    const ends = await log.bus.ends(log.topicPrefix + topic)
    const of = ({ partition, end }: (typeof ends)[number]) =>
      log.bus.read({ topic: log.topicPrefix + topic, partition, from: 0, to: end, limit: 10_000 })
    return (await Promise.all(ends.map(of))).flat().map(({ value }) => messageOf(value))
  })
}

describe('a data folder that was backed up while its program ran', () => {
  let folder: string
  let backup: string
  let text: string
  const first: Starts = []
  const second: Starts = []
  const at = (name: string) => join(folder, name)

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-backup-'))
    backup = at('a.backup')
    const { weir, hanging } = await opened(at('first'), first, { isFirst: true })
    await weir.ask({ agent: 'talker', conversation: 'talk', text: 'first' }).finished
    weir.ask({ agent: 'payer', conversation: 'pay', text: 'pay it' })
    weir.ask({ agent: 'waiter', conversation: 'run', text: 'run it', messageId: 'running' })
    await hanging
    await weir.ask({ agent: 'waiter', conversation: 'run', text: 'later', messageId: 'queued' })
      .sent
    await until(async () => (await weir.approvals()).length > 0)
    writeFileSync(at('first/weir.mcp-tools.json'), '{"pins":[]}')
    writeFileSync(at('first/weir.key'), 'a secret key')
    backUp(backup, settingsIn(at('first')), output().stream)
    await weir.ask({ agent: 'talker', conversation: 'talk', text: 'behind the backup' }).finished
    await weir.close()

    const { stream, text: printed } = output()
    await restore(backup, { resume: true }, settingsIn(at('second')), stream)
    text = printed()
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('makes a file that only its user can read, and that holds no key', () => {
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    expect(readFileSync(backup).includes('a secret key')).toBe(false)
  })

  it('is restored with its log and the accepted tools of servers, and counts the ended messages', () => {
    const names = readdirSync(at('second')).filter((name) => name !== 'weir.owner')
    expect(names.sort()).toEqual(['weir.db', 'weir.mcp-tools.json'])
    expect(text).toContain('2 messages without an answer ended as cancelled; 1 call still waiting')
    expect(text).toMatch(/^ {2}pay \{\} {2}agent payer, conversation pay, since /m)
  })

  it('starts nothing before an operator releases the stop of the restore', async () => {
    const { stream, text: printed } = output()
    const settings = settingsIn(at('held'))
    await restore(backup, {}, settings, stream)
    expect(printed()).toContain(`weir release all --data-folder ${at('held')}`)
    const starts: Starts = []
    const { weir } = await opened(at('held'), starts, { isFirst: false })
    const paid = async () => (await weir.conversation('pay').turns())[0]?.end?.outcome
    await until(async () => (await paid()) !== undefined)
    expect([await paid(), starts, await weir.approvals()]).toEqual(['failed', [], []])
    await weir.close()
  })

  it('has the evidence of that stop in an unbroken chain, with its author and its reason', async () => {
    const settings = settingsIn(at('evidence'))
    await restore(backup, {}, settings, output().stream)
    const changes = (await recordsOf(at('evidence'), 'audit')).filter(
      (message) => message?.type === 'audit-changed' && message.setting === 'stop:all',
    )
    expect(changes).toMatchObject([{ by: personHere(), before: '', isRemoved: false }])
    expect(changes).toMatchObject([{ after: expect.stringContaining('restored from a backup') }])
    const { stream, text: printed } = output()
    await verifyAudit({}, settings, stream)
    expect(printed()).toContain('2 records: no fault')
  })

  it('has no stop and no evidence of one with resume', async () => {
    const changes = await recordsOf(at('second'), 'audit')
    expect(JSON.stringify(changes)).not.toContain('restored from a backup')
  })

  it('goes on after the release, and its waiting call starts when a person allows it', async () => {
    const settings = settingsIn(at('released'))
    await restore(backup, {}, settings, output().stream)
    const streams = { out: output().stream, errors: output().stream }
    await changeSetting(removalOf('stop'), { id: 'all', by: 'ann' }, settings, streams)
    const starts: Starts = []
    const { weir } = await opened(at('released'), starts, { isFirst: false })
    await weir.allow((await weir.approvals())[0]?.id ?? '')
    await until(async () => starts.length > 0)
    expect(starts).toEqual(['pay'])
    await weir.close()
  })

  it('goes on: conversations have their history, calls wait, and no open call starts', async () => {
    const { weir } = await opened(at('second'), second, { isFirst: false })
    const { reply } = await weir.ask({ agent: 'talker', conversation: 'talk', text: 'next' })
      .finished
    expect(reply).toBe('This is talker.')
    const messages = await weir.conversation('talk').messages()
    const questions = messages.filter(({ role }) => role === 'user')
    expect(questions).toMatchObject([{ text: 'first' }, { text: 'next' }])

    const ends = async () =>
      (await weir.conversation('run').turns()).map(({ messageId, end }) => [
        messageId,
        end?.outcome,
      ])
    await until(async () => (await ends()).every(([, outcome]) => outcome !== undefined))
    expect(await ends()).toContainEqual(['running', 'cancelled'])
    await weir.ask({ agent: 'talker', conversation: 'run', text: 'and now' }).finished
    const results = (await weir.conversation('run').messages()).flatMap((one) =>
      one.role === 'assistant' ? one.calls.map(({ status }) => status) : [],
    )
    expect(results).toEqual(['unknown'])

    const [waiting] = await weir.approvals()
    expect(waiting).toMatchObject({ conversation: 'pay', name: 'pay' })
    expect(second).toEqual([])
    await weir.allow(waiting?.id ?? '')
    const paid = async () => (await weir.conversation('pay').turns())[0]?.end?.outcome
    await until(async () => (await paid()) !== undefined)
    expect([await paid(), second, first]).toEqual(['answered', ['pay'], ['wait']])
    await weir.close()
    expect(await recordsOf(at('second'), 'dead-letters')).toEqual([])
  })

  it('replays to the same decisions after the restore', async () => {
    const { stream, text: printed } = output()
    await replay(undefined, { json: true }, settingsIn(at('second')), stream)
    expect(JSON.parse(printed())).toMatchObject({ differences: 0 })
  })

  it('has the cancel of an open turn in front of everything that a stage may do', async () => {
    await restore(backup, {}, settingsIn(at('third')), output().stream)
    const last = (await recordsOf(at('third'), 'rounds-cleared')).at(-1)
    expect(last).toMatchObject({ type: 'cancel', conversation: 'run' })
  })

  it('is not restored over a log, and a refused file leaves no folder', async () => {
    const restoring = (file: string, name: string) =>
      restore(file, {}, settingsIn(at(name)), output().stream)
    await expect(restoring(backup, 'first')).rejects.toMatchObject({ code: 'output.exists' })
    writeFileSync(at('text'), 'no database')
    await expect(restoring(at('text'), 'new')).rejects.toMatchObject({
      code: 'bus.not-a-database',
    })
    const bytes = readFileSync(backup)
    writeFileSync(at('damaged'), bytes.fill(0xff, bytes.length - 8192, bytes.length - 4096))
    await expect(restoring(at('damaged'), 'new')).rejects.toMatchObject({
      code: 'bus.not-a-database',
    })
    expect(existsSync(at('new'))).toBe(false)
  })

  it('is refused if its time is another text, which could be one for a terminal', async () => {
    const changed = at('changed.backup')
    cpSync(backup, changed)
    const db = new DatabaseSync(changed)
    db.prepare("UPDATE backup SET content = ? WHERE name = ''").run(Buffer.from('\u001b[2J'))
    db.close()
    await expect(
      restore(changed, {}, settingsIn(at('new')), output().stream),
    ).rejects.toMatchObject({
      code: 'bus.not-a-database',
    })
    expect(existsSync(at('new'))).toBe(false)
  })

  it('is refused as a log, so no process runs its open calls', async () => {
    cpSync(backup, at('copied/weir.db'), { recursive: true })
    await expect(opened(at('copied'), [], { isFirst: false })).rejects.toThrow(
      'it is a backup: make a log of it with weir restore',
    )
  })

  it('does not replace a file', () => {
    expect(() => backUp(backup, settingsIn(at('first')), output().stream)).toThrow(
      'a.backup exists already: name another file',
    )
  })
})

test('an encrypted backup holds no readable message, and is restored only with the keys', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-backup-'))
  const at = (name: string) => join(folder, name)
  const encryptionKeys = at('keys.json')
  addTenantKey(encryptionKeys, 'acme', new Date(0))
  const weir = await Weir.open({
    agents: [
      defineAgent({ name: 'talker', model: scriptedModel(says('Hello.')), system: 'Help.' }),
    ],
    dataFolder: at('first'),
    encryptionKeys,
    log: pino({ level: 'silent' }),
  })
  await weir.ask({ agent: 'talker', conversation: 'acme:c', text: 'the secret question' }).finished
  backUp(at('a.backup'), settingsIn(at('first')), output().stream)
  await weir.close()
  expect(readFileSync(at('a.backup')).includes('the secret question')).toBe(false)

  const settings = settingsIn(at('second'))
  await expect(restore(at('a.backup'), {}, settings, output().stream)).rejects.toMatchObject({
    code: 'encryption.key-missing',
    message: expect.stringContaining('--encryption-keys'),
  })
  expect(existsSync(at('second'))).toBe(false)
  await restore(at('a.backup'), {}, { ...settings, encryptionKeys }, output().stream)
  expect(existsSync(at('second/weir.db'))).toBe(true)
  rmSync(folder, { recursive: true })
})
