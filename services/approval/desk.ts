// The desk: what a person, or a program for one, does about calls that wait. It lists them, and
// writes a decision and says what became of it.
// DESK-1. Nothing is decided here. A decision is a record, and the order of the log says which one
//     counts; the answer is read from that order.
// DESK-2. A decision names the arguments by their hash, as they were listed to whoever decides, and
//     is for one call: an id that two wait under is refused.

import type { Appended, Bus } from '../../shared/contract/bus.ts'
import { type CallId, isSameCall } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { ApprovalAnswer } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { type Approval, alreadyText, countedText, expired, idFrom } from './approval.ts'
import { type Entry, readBook, readPage, waitingIn } from './book.ts'

/**
 * A call that waits for a person. `arguments`: the bytes that the tool would get. Times are the
 * log's, in milliseconds since 1970.
 */
export type WaitingApproval = CallId & {
  id: string
  agent: string
  tool: string
  arguments: string
  /** SHA-256, in hex, of tool and arguments. */
  hash: string
  /** The name of the rule for which it waits. */
  rule: string
  since: Milliseconds
  /** When it is rejected if nobody decides. */
  until: Milliseconds
}

export type ApprovalDecision = {
  id: string
  answer: ApprovalAnswer
  by: string
  /** For the model, where it is rejected. */
  reason?: string | undefined
  /** Of what was shown to whoever decides; default: of what waits under the id. */
  hash?: string | undefined
}

/**
 * `counted`: this decision is the one that counts. `outcome`: what the call is now. `text`: that in
 * words, for whoever decided.
 */
export type DecisionOutcome = { counted: boolean; outcome: Approval['kind']; text: string }

export type Desk = {
  /** By when they were asked about. */
  waiting(): Promise<WaitingApproval[]>
  /**
   * Throws `approval.unknown` where no such call is known, `approval.ambiguous` where two wait
   * under the id, and `message.invalid` for a reason or name that is too long.
   */
  decide(decision: ApprovalDecision): Promise<DecisionOutcome>
}

export type DeskOptions = {
  /** The log, open for reading. */
  bus: Pick<Bus, 'ends' | 'read' | 'clock'>
  /** How a decision is written: the log itself, or whoever has it open for writing. */
  append: (...args: Parameters<Bus['append']>) => Promise<Appended[]>
  topicPrefix: string
  partitions: number
}

export function openDesk({ bus, append, topicPrefix, partitions }: DeskOptions): Desk {
  return {
    async waiting() {
      return waitingIn(await readBook({ bus, topicPrefix }), bus.clock.now()).map(({ approval }) =>
        waitingApproval(approval),
      )
    },

    async decide({ id: given, answer, by, reason = '', hash }) {
      checkSize('reason', reason, limits.approvalReasonBytesMax)
      checkSize('name', by, limits.approvalByBytesMax)
      const id = idFrom(given)
      const now = bus.clock.now()
      const approval = expired(
        entryUnder(id, await readBook({ bus, topicPrefix }), now).approval,
        now,
      )
      const { request, kind } = approval
      if (kind !== 'pending') return { counted: false, outcome: kind, text: alreadyText(approval) }
      const { conversation, turn, round, ordinal } = request
      const place = { conversation, turn, round, ordinal }
      const message = {
        type: 'approval-answered' as const,
        ...place,
        id,
        hash: hash ?? request.hash,
        answer,
        by,
        reason,
      }
      const partition = partitionOf(conversation, partitions)
      const [written] = await append([
        toRecord({ topic: `${topicPrefix}approvals`, partition, message }),
      ])
      if (written === undefined)
        throw new WeirError(
          'runtime.assertion',
          'a record was appended, and the bus does not say where',
        )
      return outcomeOf(request, written)
    },
  }

  /** From the log up to the decision itself: what comes later cannot change it. */
  async function outcomeOf(
    request: Approval['request'],
    { partition, offset, time }: Appended,
  ): Promise<DecisionOutcome> {
    const begin =
      (await bus.ends(`${topicPrefix}approvals`)).find((ends) => ends.partition === partition)
        ?.begin ?? 0
    const entries = await readPage({ bus, topicPrefix }, { partition, begin, end: offset + 1 })
    const entry = entries.find((entry) => isSameCall(entry.approval.request, request))
    if (entry === undefined) throw unknown(request.id)
    const approval = expired(entry.approval, time)
    const counted = entry.decidedAt === offset
    return {
      counted,
      outcome: approval.kind,
      text: counted ? countedText(approval) : alreadyText(approval),
    }
  }
}

/**
 * What waits under the id, or else what waited under it last. Throws `approval.unknown`,
 * `approval.ambiguous`.
 */
export function entryUnder(id: string, entries: Entry[], now: Milliseconds): Entry {
  const known = entries.filter(({ approval }) => approval.request.id === id)
  const [waits, ...others] = waitingIn(known, now)
  if (others.length > 0)
    throw new WeirError(
      'approval.ambiguous',
      `${others.length + 1} calls wait under the id ${id}, which chance does not bring about, and none can be decided by it: cancel their turns, or let them expire. ${waitingIn(known, now).map(placeText).join('; ')}`,
    )
  const entry = waits ?? known.at(-1)
  if (entry === undefined) throw unknown(id)
  return entry
}

function placeText({ approval: { request } }: Entry): string {
  const { conversation, turn, round, ordinal, name, arguments: text } = request
  return `${name} ${shortened(text, 200)} (call ${ordinal} of round ${round}, turn ${turn}, conversation ${conversation})`
}

function unknown(id: string): WeirError {
  const text = `no call waits, or waited in the last two days, under the id ${JSON.stringify(id.slice(0, 80))}: weir approvals lists those that wait`
  return new WeirError('approval.unknown', text)
}

function waitingApproval({ request }: Approval): WaitingApproval {
  const {
    id,
    conversation,
    turn,
    round,
    ordinal,
    agent,
    name,
    arguments: text,
    hash,
    rule,
    askedAt,
    expiresAt,
  } = request
  const place = { id, conversation, turn, round, ordinal, agent }
  return { ...place, tool: name, arguments: text, hash, rule, since: askedAt, until: expiresAt }
}

function checkSize(name: string, value: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(value)
  if (bytes > bytesMax)
    throw new WeirError(
      'message.invalid',
      `the ${name} has ${bytes} bytes; at most ${bytesMax} are kept`,
    )
  if (!value.isWellFormed())
    throw new WeirError(
      'message.invalid',
      `the ${name} has half of a surrogate pair in it, which UTF-8 cannot say`,
    )
}
