// Approvals for a person, or for a program that acts for one: lists the calls that wait, writes a
// decision, returns its outcome.
//
// Nothing is decided here. A decision is a record. The order of the log says which one
// counts, and the answer is read from that order.
// A decision names the arguments by their hash, as listed, and is for one call. An id
// that two calls wait under is refused.

import type { Appended, Bus } from '../../../shared/contract/bus.ts'
import { argumentsOf, type CallArguments } from '../../../shared/contract/call/call-arguments.ts'
import {
  type InputQuestion,
  questionIn,
  valuesFor,
} from '../../../shared/contract/call/input-question.ts'
import { type CallId, halfPair, isSameCall } from '../../../shared/contract/ids.ts'
import type {
  ApprovalAnswer,
  PendingCall,
  PersonIdentity,
} from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { conversationOfTenant } from '../../../shared/contract/tenant.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { shortened } from '../../../shared/lib/text-cut.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import {
  type Approval,
  applyTime,
  approvalByBytesMax,
  approvalReasonBytesMax,
  idFrom,
} from '../approval.ts'
import { alreadyText, countedText } from '../decision-texts.ts'
import { type ApprovalEntry, readApprovals, readPartition, waitingIn } from './approval-log.ts'

/**
 * A call that waits for a person. `rawArguments`: the text that the tool would get. Times are those
 * of the log, in milliseconds since 1970.
 */
export type WaitingApproval = CallId &
  CallArguments &
  Pick<PendingCall, 'id' | 'name' | 'hash' | 'rule' | 'source' | 'program'> & {
    agent: string
    /** The question of the running tool. Null: the call waits for an approval. */
    question: InputQuestion | null
    since: Milliseconds
    /** The time at which it is denied if nobody decides. */
    until: Milliseconds
  }

export type ApprovalDecision = {
  id: string
  answer: ApprovalAnswer
  by: string
  /** `authenticated`: the caller checked a proof of the name. Default: `claimed`. */
  identity?: PersonIdentity | undefined
  /** For the model, if you deny the call. */
  reason?: string | undefined
  /** Only calls of this tenant's conversations are known. Default: all. */
  tenant?: string | undefined
  /** Only calls of this turn are known. Default: of all turns. */
  of?: Pick<CallId, 'conversation' | 'turn'> | undefined
  /** The values for a question, as JSON text. */
  values?: string | undefined
  /** The hash that you read in the list. Default: the hash of the call that waits under the id. */
  hash?: string | undefined
}

/**
 * `counted`: this decision is the one that counts. `outcome`: the state of the call now. `text`:
 * the same in words, for the author of the decision.
 */
export type DecisionOutcome = { counted: boolean; outcome: Approval['kind']; text: string }

export type Approvals = {
  /** In the order in which their wait began. */
  waiting(): Promise<WaitingApproval[]>
  /**
   * Throws `approval.unknown` if no such call is known, `approval.ambiguous` if two wait under the
   * id, and `message.invalid` for a reason or name that is too long.
   */
  decide(decision: ApprovalDecision): Promise<DecisionOutcome>
}

export type ApprovalsOptions = {
  /** The log, open for reading. */
  bus: Pick<Bus, 'ends' | 'read' | 'clock'>
  /** Appends a decision to the log. */
  append: (...args: Parameters<Bus['append']>) => Promise<Appended[]>
  topicPrefix: string
  partitions: number
}

export function openApprovals({
  bus,
  append,
  topicPrefix,
  partitions,
}: ApprovalsOptions): Approvals {
  return {
    async waiting() {
      return waitingIn(await readApprovals({ bus, topicPrefix }), bus.clock.now()).map(
        ({ approval }) => waitingApproval(approval),
      )
    },

    async decide(decision) {
      const { answer, by, identity = 'claimed', hash, tenant, of } = decision
      const { reason = '', values = null } = decision
      checkSize('reason', reason, approvalReasonBytesMax)
      checkSize('name', by, approvalByBytesMax)
      const now = bus.clock.now()
      const entries = (await readApprovals({ bus, topicPrefix })).filter(
        ({ approval: { request } }) =>
          (tenant === undefined ||
            request.conversation.startsWith(conversationOfTenant(tenant, ''))) &&
          (of === undefined ||
            (request.conversation === of.conversation && request.turn === of.turn)),
      )
      const approval = applyTime(entryUnder(decision.id, entries, now).approval, now)
      const { request, kind } = approval
      if (kind !== 'pending') return { counted: false, outcome: kind, text: alreadyText(approval) }
      refuseValues(request, answer, values)
      const { conversation, turn, round, ordinal, input } = request
      const place = { conversation, turn, round, ordinal }
      const message = {
        type: 'approval-answered' as const,
        ...place,
        id: request.id,
        hash: hash ?? request.hash,
        answer,
        by,
        reason,
        input,
        values,
        identity,
      }
      const partition = partitionOf(conversation, partitions)
      const [written] = await append([
        toRecord({ topic: `${topicPrefix}approvals`, partition, message }),
      ])
      if (written === undefined)
        throw new WeirError(
          'runtime.assertion',
          'the bus appended a record and returned no position',
        )
      return outcomeOf(request, written)
    },
  }

  /** Reads the log up to the decision itself: later records cannot change its outcome. */
  async function outcomeOf(
    request: Approval['request'],
    { partition, offset, time }: Appended,
  ): Promise<DecisionOutcome> {
    const begin =
      (await bus.ends(`${topicPrefix}approvals`)).find((ends) => ends.partition === partition)
        ?.begin ?? 0
    const entries = await readPartition({ bus, topicPrefix }, { partition, begin, end: offset + 1 })
    const entry = entries.find(
      ({ approval: { request: one } }) => isSameCall(one, request) && one.input === request.input,
    )
    if (entry === undefined) throw unknown(request.id)
    const approval = applyTime(entry.approval, time)
    const counted = entry.decidedAt === offset
    return {
      counted,
      outcome: approval.kind,
      text: counted ? countedText(approval) : alreadyText(approval),
    }
  }
}

/**
 * The call that waits under the id, otherwise the one that waited last. `typed`: the id as a person
 * types it. Throws `approval.unknown`, `approval.ambiguous`.
 */
export function entryUnder(
  typed: string,
  entries: ApprovalEntry[],
  now: Milliseconds,
): ApprovalEntry {
  const id = idFrom(typed)
  const known = entries.filter(({ approval }) => approval.request.id === id)
  const [waits, ...others] = waitingIn(known, now)
  if (others.length > 0)
    throw new WeirError(
      'approval.ambiguous',
      `${others.length + 1} calls wait under the id ${id}, so it cannot decide any of them. Chance does not produce equal ids. Cancel their turns, or let them expire. ${waitingIn(known, now).map(placeText).join('; ')}`,
    )
  const entry = waits ?? known.at(-1)
  if (entry === undefined) throw unknown(typed)
  return entry
}

function placeText({ approval: { request } }: ApprovalEntry): string {
  const { conversation, turn, round, ordinal, name, arguments: text } = request
  return `${name} ${shortened(text, 200)} (call ${ordinal} of round ${round}, the turn at offset ${turn}, conversation ${conversation})`
}

function unknown(id: string): WeirError {
  const text = `no call waits, or waited in the last two days, under the id ${JSON.stringify(id.slice(0, 80))}. weir approvals lists the calls that wait`
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
    hash,
    rule,
    source,
    program,
    question,
    askedAt,
    expiresAt,
  } = request
  const place = { id, conversation, turn, round, ordinal, agent }
  const call = { name, ...argumentsOf(request), hash, rule, source, program }
  const asked = question === null ? null : (questionIn(question) ?? null)
  return { ...place, ...call, question: asked, since: askedAt, until: expiresAt }
}

/** Throws `message.invalid` for values that would decide nothing. */
function refuseValues(
  { id, question }: Approval['request'],
  answer: ApprovalAnswer,
  values: string | null,
): void {
  if (answer === 'deny' || question === null) {
    if (values === null) return
    throw new WeirError('message.invalid', 'values answer a question, and this is none')
  }
  const checked = valuesFor(question, values)
  if ('fault' in checked)
    throw new WeirError(
      'message.invalid',
      `the question ${id} cannot be answered so: ${checked.fault}`,
    )
}

function checkSize(name: string, value: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(value)
  if (bytes > bytesMax)
    throw new WeirError(
      'message.invalid',
      `the ${name} has ${bytes} bytes; it must have at most ${bytesMax}`,
    )
  if (!value.isWellFormed()) throw new WeirError('message.invalid', `the ${name} ${halfPair}`)
}
