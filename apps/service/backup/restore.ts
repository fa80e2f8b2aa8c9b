// `weir restore FILE` makes the log of a new data folder from a backup. Conversations go on there, and
// calls that wait for a person still wait.
// A call that had not started may have run after the backup. So a message without an end
// gets an end, and only a call that waits for a person can still start.
// The log has a stop of all agents and its evidence, so no record of the backup starts
// anything before an operator releases the stop. `resume` leaves the stop out.
// The executor has the cancel of a turn after its last record before any stage runs. A
// claim of the turn follows too late.

import { existsSync } from 'node:fs'
import { endsOf } from '../../../client/history/readable-log.ts'
import {
  openApprovals,
  type WaitingApproval,
} from '../../../services/approval/performer/approvals.ts'
import { personHere } from '../../../services/approval/performer/person.ts'
import { linkedBus } from '../../../shared/bus/audit/linked-bus.ts'
import type { BusKind } from '../../../shared/bus/kind.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Offset, RecordToAppend } from '../../../shared/contract/bus.ts'
import { callOfConversation, type TurnId, turnKey } from '../../../shared/contract/ids.ts'
import type { Cancel, CancelRequested } from '../../../shared/contract/messages.ts'
import { stages, stopId, type TopicName } from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { claimFolder } from '../../../shared/lib/files/folder-owner.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { shortened } from '../../../shared/lib/text-cut.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { placeSetting, storedSettings } from '../../../shared/runtime/settings/operator-setting.ts'
import { removalCommand } from '../../../shared/settings/setting-words.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { type OpenConversation, unfinishedIn } from '../../bundles/import/unfinished.ts'
import { hiddenText, isGone } from '../../history/hidden-text.ts'
import { type OpenLog, openLog } from '../../history/open-log.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count, instant } from '../../terminal/text/quantities.ts'
import { stopSetting } from '../operator-settings.ts'
import { filesInBackup, localKind } from './backup.ts'

/** Throws `output.exists` for a folder with a log, and `bus.*` for a file that is no backup. */
export async function restore(
  backup: string,
  { resume = false }: { resume?: boolean },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0> {
  const kind = localKind('restore', settings)
  const { dataFolder } = settings
  const file = kind.logFile(settings)
  if (existsSync(file))
    throw new WeirError(
      'output.exists',
      `${file} already exists, and was not changed: name an empty or a new folder (--data-folder)`,
    )
  const unclaim = claimFolder(dataFolder)
  let work: OpenWork = { records: [], stop: [], ended: 0, waiting: [] }
  const madeAt = await kind
    .restoreLog({
      backup,
      dataFolder,
      clock: systemClock,
      files: filesInBackup,
      async ending(folder) {
        work = await openWork(kind, { ...settings, dataFolder: folder })
        return resume ? work.records : [...work.records, ...work.stop]
      },
    })
    .catch((error: unknown) => {
      unclaim()
      throw error
    })
  const { ended, waiting } = work
  out.write(`${file}: the log${madeAt === '' ? '' : ` of ${printable(madeAt)}`}\n`)
  out.write(
    `${count(ended, 'message')} without an answer ended as cancelled; ${count(waiting.length, 'call')} still waiting for a person (weir approvals)\n`,
  )
  for (const call of waiting) out.write(`  ${waitingText(call)}\n`)
  if (!resume) out.write(`${heldText(dataFolder)}\n`)
  return 0
}

function waitingText({ name, rawArguments, agent, conversation, since }: WaitingApproval): string {
  return printable(
    `${name} ${shortened(rawArguments, 200)}  agent ${agent}, conversation ${conversation}, since ${instant(since)}`,
  )
}

function heldText(dataFolder: string): string {
  const release = `${removalCommand('stop', stopId(heldStop))} --data-folder ${dataFolder}`
  return printable(
    `all agents are stopped, so nothing starts. To let these calls wait on: ${release}. A process that you start before ends them`,
  )
}

/** `ended`: messages. `stop`: the records that hold all agents. */
type OpenWork = {
  records: RecordToAppend[]
  stop: RecordToAppend[]
  ended: number
  waiting: readonly WaitingApproval[]
}

const heldStop = { scope: 'all', name: '' } as const

async function openWork(kind: BusKind, settings: Settings): Promise<OpenWork> {
  const log = await openLog(settings)
  try {
    const approvals = await openApprovals({ ...log, append: neverAppends }).waiting()
    const waiting = new Set(approvals.flatMap(withCallers).map(turnKey))
    const ending: Ending[] = []
    for (const [partition, { conversations }] of await unfinishedIn(log, neverAborts))
      for (const open of conversations)
        ending.push(...endingOf(open, waiting).map((one) => ({ partition, ...one })))
    ending.push(...(await endingOfUnread(log, await committedOf(kind, settings, log))))
    refuseHidden(log)
    const stops = await storedSettings(stopSetting, log)
    return {
      stop: stops.some(({ value }) => value?.scope === 'all') ? [] : await stopRecords(log),
      records: ending.map(({ topic, ...rest }) =>
        toRecord({ topic: log.topicPrefix + topic, ...rest }),
      ),
      ended: ending.filter(({ message }) => message.type === 'cancel-requested').length,
      waiting: approvals,
    }
  } finally {
    await log.bus.close()
  }
}

/** A log of an early version has no topic for evidence. */
async function stopRecords(log: OpenLog): Promise<RecordToAppend[]> {
  const { bus, topicPrefix } = log
  const records: RecordToAppend[] = []
  async function append(all: RecordToAppend[]) {
    records.push(...all)
    return []
  }
  const collecting = linkedBus({ ...bus, append, appendsWhole: true }, topicPrefix)
  const reason = 'the log was restored from a backup'
  const by = { setBy: personHere(), setAt: systemClock.now() }
  const table = { bus: collecting, topicPrefix }
  const stop = { type: 'operator-stop', ...heldStop, mode: 'drain', reason, ...by } as const
  await placeSetting(stopSetting, table, stop)
  const hasEvidence = (await endsOf(log, 'audit')).length > 0
  return records.filter(({ topic }) => hasEvidence || topic !== `${topicPrefix}audit`)
}

/** The turn, and the turns whose agents wait for its agent. */
function withCallers(turn: TurnId): TurnId[] {
  const call = callOfConversation(turn.conversation)
  return call === undefined ? [turn] : [turn, ...withCallers(call)]
}

type Ending = { topic: TopicName; partition: number; message: Cancel | CancelRequested }

/** `waiting`: the turns with a call that waits for a person. */
function endingOf(
  { conversation, round, messageId, queued }: OpenConversation,
  waiting: ReadonlySet<string>,
): Omit<Ending, 'partition'>[] {
  const isKept = round !== undefined && waiting.has(turnKey({ conversation, ...round }))
  const ids = messageId === undefined || isKept ? queued : [messageId, ...queued]
  const cancels = ids.map(
    (id): Omit<Ending, 'partition'> => ({
      topic: stages.conversation.inbox,
      message: { type: 'cancel-requested', conversation, messageId: id },
    }),
  )
  if (round === undefined || isKept) return cancels
  const { turn, round: number, expiresAt } = round
  const cancel: Cancel = { type: 'cancel', conversation, turn, round: number, expiresAt }
  return [{ topic: stages.executor.inbox, message: cancel }, ...cancels]
}

/** Messages that the intake had not copied yet. `committed`: by partition. */
async function endingOfUnread(
  log: OpenLog,
  committed: ReadonlyMap<number, Offset>,
): Promise<Ending[]> {
  const topic = stages.intake.inbox
  const ending: Ending[] = []
  for (const { partition, begin, end } of await log.bus.ends(log.topicPrefix + topic)) {
    const from = Math.max(begin, committed.get(partition) ?? 0)
    const range = { topic: log.topicPrefix + topic, partition, from, to: end }
    for await (const records of batchesOf(log.bus, range))
      for (const { value } of records) {
        const message = messageOf(value)
        if (message?.type !== 'user-message') continue
        const { conversation, messageId } = message
        const cancel = { type: 'cancel-requested', conversation, messageId } as const
        ending.push({ topic, partition, message: cancel })
      }
  }
  return ending
}

async function committedOf(
  kind: BusKind,
  settings: Settings,
  { topicPrefix }: OpenLog,
): Promise<ReadonlyMap<number, Offset>> {
  const place = { group: `${topicPrefix}intake`, topic: topicPrefix + stages.intake.inbox }
  const log = createLog({ level: settings.logLevel })
  const [progress] = await kind.progressOfGroups(settings, [place], log)
  return progress?.commits ?? new Map()
}

/** Without their keys nobody knows which messages are open. Deleted keys can open nothing. */
function refuseHidden({ bus }: OpenLog): void {
  const hidden = bus.hidden?.().find((group) => !isGone(group))
  if (hidden !== undefined) throw new WeirError('encryption.key-missing', hiddenText(hidden))
}

const neverAborts = new AbortController().signal

async function neverAppends(): Promise<never> {
  throw new Error('a restore appends its records itself')
}
