// The budgets of a guest's model requests: reserved before the guest sends one, settled by its answer,
// in the ledger of the gateways.
// Reads: policies, budgets. Writes: budget-reserved, budget-settled and budget-released to budgets.
// Without a budget in force nothing is written, and `budgets` is not read.
// A front that refuses without Weir's answer also refuses without a readable budget
// (R6). Another one lets the request pass.

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import {
  budgetsInForce,
  withTreeCaps,
} from '../../../services/llm-gateway/performer/budgets/in-force.ts'
import {
  contentTokens,
  type Reservation,
  reserveBound,
} from '../../../services/llm-gateway/performer/budgets/reservation.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { BudgetUse, Policy, Usage } from '../../../shared/contract/messages.ts'
import { budgetKeyPrefix, pricesKey } from '../../../shared/contract/topology.ts'
import { noUsage } from '../../../shared/contract/turn/no-usage.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { budgetLog } from '../../../shared/runtime/budgets/budget-log.ts'
import type { LedgerReader } from '../../../shared/runtime/budgets/ledger-reader.ts'
import type { policyReader } from '../../../shared/runtime/settings/policy-reader.ts'
import type { Failed } from '../../../shared/wire/exchange.ts'
import { formatNamed } from '../../../shared/wire/formats.ts'
import { contentOf } from '../formats.ts'
import type { AnyGuestRequest } from '../guest-conversation.ts'
import { guestTree } from './guest-places.ts'

/** A model request that a guest is about to send. */
export type GuestUse = {
  conversation: ConversationId
  /** Undefined: it belongs to no turn, so no budget per turn counts it. */
  place: { turn: number; round: number } | undefined
  /** False: its conversation is not known yet, so no budget per conversation counts it. */
  isNamed: boolean
  /** Undefined: the front does not see it, and only learns whether a budget is reached. */
  request: AnyGuestRequest | undefined
  /** The server, for its prices. Default: the provider's own. */
  baseUrl?: string | undefined
  /** The request found these soft budgets reached first. */
  onReached: (soft: BudgetUse[]) => Promise<void>
}

export type GuestBudgets = {
  /** A failure: the request must not start. Undefined: no budget concerns it. */
  reserve(use: GuestUse): Promise<Reservation | Failed | undefined>
}

export type GuestBudgetsOptions = {
  bus: Bus
  topicPrefix: string
  agent: string
  read: ReturnType<typeof policyReader>
  /** In force now. */
  policy: (conversation: ConversationId) => Promise<Pick<Policy, 'tree' | 'parent'>>
  /** One for all fronts of a process. */
  reader: LedgerReader
  /** Whether calls are denied when Weir does not answer. */
  refuses: boolean
  randomId?: () => string
  log: Logger
}

export function guestBudgets({
  bus,
  topicPrefix,
  agent,
  read,
  policy,
  reader,
  refuses,
  randomId = randomUUID,
  log,
}: GuestBudgetsOptions): GuestBudgets {
  const context = { budgets: budgetLog({ bus, topicPrefix, log }), clock: bus.clock, log }

  async function inForce({ conversation, place, isNamed }: GuestUse) {
    const records = await read.policies(budgetKeyPrefix, pricesKey)
    const found = budgetsInForce(records, { agent, conversation })
    if (typeof found === 'string') return unreadable(found)
    const budgets = found.budgets.filter(
      ({ window, subject }) =>
        (place !== undefined || window !== 'turn') && (isNamed || subject !== conversation),
    )
    const { tree, parent } = await policy(conversation)
    const capped = withTreeCaps({ ...found, budgets }, isNamed ? tree : null)
    return { kind: 'found' as const, ...capped, tree: guestTree({ conversation, parent }) }
  }

  async function reserve(use: GuestUse): Promise<Reservation | Failed | undefined> {
    const found = await inForce(use)
    if (found.kind === 'failed' || found.budgets.length === 0)
      return found.kind === 'failed' ? found : undefined
    const { conversation, request, baseUrl, onReached } = use
    const { turn, round } = use.place ?? { turn: -1, round: 0 }
    const made = await reserveBound({
      context,
      reader,
      reportReached: onReached,
      id: { conversation, turn, round, attempt: randomId() },
      tree: found.tree,
      model: modelOf(request, baseUrl),
      bound: boundOf(request),
      // A front that sees no request has no price to refuse.
      inForce: request === undefined ? { ...found, refusesUnpriced: false } : found,
      expiresAt: bus.clock.now() + limits.guestRequestMs,
    })
    if (made.kind === 'failed') return made
    return { ...made, settle: (usage) => made.settle(countedUsage(usage)) }
  }

  return {
    async reserve(use) {
      const made = await reserve(use).catch((error: unknown) => {
        log.warn({ err: error }, 'the budgets of a guest cannot be read')
        return unreadable('its budgets cannot be read')
      })
      if (made?.kind !== 'failed' || made.code === 'budget.reached' || refuses) return made
      log.warn({ agent, reason: made.reason }, 'a request of a guest passes without its budget')
      return undefined
    },
  }
}

function unreadable(reason: string): Failed {
  return {
    kind: 'failed',
    code: 'budget.unreadable',
    class: 'transient',
    reason,
    retryable: true,
    retryAfterMs: null,
  }
}

/** The model as the operator's prices name it. A format that is no provider's API has no price. */
function modelOf(request: AnyGuestRequest | undefined, baseUrl: string | undefined) {
  const body = isObject(request?.body) ? request.body : {}
  const named = request?.model ?? { provider: request?.format ?? '', name: body.model }
  const name = typeof named.name === 'string' ? named.name.slice(0, limits.agentNameBytesMax) : ''
  return { provider: named.provider, name, baseUrl } as Parameters<typeof reserveBound>[0]['model']
}

/** A token has at least two bytes in nearly all texts. Images and files have an amount for each. */
function boundOf(request: AnyGuestRequest | undefined): Usage {
  if (request === undefined) return noUsage
  let contents = 0
  const text = JSON.stringify(contentOf(request), (_, value: unknown) => {
    if (!isContent(value)) return value
    contents += 1
    return undefined
  })
  const inputTokens = Math.ceil(Buffer.byteLength(text ?? '') / 2) + contents * contentTokens
  return { ...noUsage, inputTokens, outputTokens: outputMaxOf(request) }
}

/** The bytes of an image or a file. No text of a model or a user has this form. */
function isContent(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.length >= contentCharsMin &&
    /^(data:[^,]{0,100},)?[A-Za-z0-9+/_=-]+$/.test(value)
  )
}

const contentCharsMin = 1024

function outputMaxOf({ format, body }: AnyGuestRequest): number {
  const api = formatNamed(format as unknown)?.request
  if (!isObject(body) || api === undefined) return limits.guestOutputTokens
  const given = api.outputLimits(body).filter(isCount)
  const one = given.length === 0 ? limits.guestOutputTokens : Math.max(...given)
  const answers = api.answers(body)
  return Math.min(one * (isCount(answers) ? Math.max(1, answers) : 1), limits.usageTokensMax)
}

/** The counts of any server. A value that is no count is 0. */
function countedUsage(usage: Usage): Usage {
  const counted = (tokens: number) =>
    isCount(tokens) ? Math.min(tokens, limits.usageTokensMax) : 0
  return {
    inputTokens: counted(usage.inputTokens),
    outputTokens: counted(usage.outputTokens),
    cacheReadTokens: counted(usage.cacheReadTokens),
    cacheWriteTokens: counted(usage.cacheWriteTokens),
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
