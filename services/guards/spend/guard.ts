// The spend guard: sums the amounts of calls, and denies calls over a limit for one call, for a
// conversation, or for a day of a conversation.
// Owns: the sums.
// Does not own: whether a passed call succeeds. It counts anyway, because a guard gets no results.
//
// Amounts are bigints of the smallest unit (amount.ts). Inexact amounts are refused,
// never rounded.
// A sum contains all calls that this guard passed, even those that another guard
// refused, that failed, or that were cancelled. It can only be too high.
// A round's calls are counted in order, so a denied call leaves room for a smaller later call.
// A repeated round gets the same verdicts and is not counted twice. A round from
// before the last one of its conversation is refused. Each called agent has a last round too.
// Time is the round's, in UTC, and a day never goes back. State is kept per
// conversation with the agents that its calls ask, so no limit holds over other conversations.

import { valueAt } from '../../../shared/contract/arguments/argument-path.ts'
import type {
  Guard,
  GuardedCall,
  GuardedRound,
  Verdict,
} from '../../../shared/contract/guard/guard.ts'
import { type RoundId, roundIdOf } from '../../../shared/contract/ids.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { keyFault } from '../../../shared/runtime/guards/key-fault.ts'
import { type AmountForm, amountOf, textOfUnits, unitsOf } from './amount.ts'

export type SpendGuardOptions = {
  /** Default `spend`. */
  name?: string
  /** Patterns of the tools that spend. */
  tools: string[]
  /** The argument with the amount: a name, or a JSON Pointer such as /payment/amount. */
  argument: string
  /** Default `integer`. */
  form?: AmountForm
  /** Decimals of the currency, 0 to 9. Default 2. */
  decimals?: number
  /**
   * The argument that names the currency, and the only accepted currency. Without it, amounts of
   * all currencies are summed.
   */
  currency?: { argument: string; is: string }
  /** As decimal texts, e.g. "100.00". At least one. An amount exactly at a limit passes. */
  limits: { call?: string; conversation?: string; day?: string }
  /**
   * Hours for which an idle conversation's sums are kept, 25 to 720. Default 48. After that it
   * begins at zero.
   */
  rememberedHours?: number
}

/**
 * Sums are texts of integers of the smallest unit, because JSON has no bigint. `last`: the last judged
 * round of each conversation, and the sums before it, the newest last.
 */
export type SpendState = {
  total: string
  day: string
  dayTotal: string
  last: LastRound[]
}
type LastRound = RoundId & { total: string; dayTotal: string }

/** More would exceed the state of a guard. A repeat in a forgotten conversation counts again. */
const lastMax = 32

type Rules = {
  argument: string
  form: AmountForm
  decimals: number
  currency: SpendGuardOptions['currency']
  call: bigint | undefined
  conversation: bigint | undefined
  day: bigint | undefined
}
type Sums = { total: bigint; day: bigint }

/** Throws a WeirError (settings.invalid) for unusable options. */
export default function spendGuard(options: SpendGuardOptions): Guard<SpendState> {
  const rules = spendRules(options)
  return {
    name: options.name ?? 'spend',
    version: '2',
    tools: options.tools,
    deadlineMs: 1_000,
    onTimeout: 'deny',
    stateKeptMs: (options.rememberedHours ?? 48) * 60 * 60_000,
    judge: (state, round) => judge(state, round, rules),
  }
}

function judge(
  state: SpendState | undefined,
  round: GuardedRound,
  rules: Rules,
): { state: SpendState | undefined; verdicts: Verdict[] } {
  const isOwn = ({ conversation }: LastRound) => conversation === round.conversation
  const before = state?.last.find(isOwn)
  const order = before === undefined ? 1 : compare(round, before)
  if (order < 0) return { state, verdicts: round.calls.map(outOfOrder) }
  if (before !== undefined && order === 0)
    return { state, verdicts: count(round.calls, sumsOf(before), rules).verdicts }

  const today = new Date(round.time).toISOString().slice(0, 10)
  const day = state !== undefined && state.day > today ? state.day : today
  const spent: Sums = {
    total: BigInt(state?.total ?? 0),
    day: state?.day === day ? BigInt(state.dayTotal) : 0n,
  }
  const { verdicts, sums } = count(round.calls, spent, rules)
  const newest = {
    ...roundIdOf(round),
    total: String(spent.total),
    dayTotal: String(spent.day),
  }
  const others = state?.last.filter((one) => !isOwn(one)) ?? []
  const last = [...others.slice(1 - lastMax), newest]
  return { state: { total: String(sums.total), day, dayTotal: String(sums.day), last }, verdicts }
}

function sumsOf({ total, dayTotal }: LastRound): Sums {
  return { total: BigInt(total), day: BigInt(dayTotal) }
}

function count(
  calls: readonly GuardedCall[],
  before: Sums,
  rules: Rules,
): { verdicts: Verdict[]; sums: Sums } {
  let sums = before
  const verdicts: Verdict[] = []
  for (const call of calls) {
    const { verdict, spent } = judgeCall(call, sums, rules)
    verdicts.push(verdict)
    sums = { total: sums.total + spent, day: sums.day + spent }
  }
  return { verdicts, sums }
}

function judgeCall(
  { ordinal, arguments: args }: GuardedCall,
  sums: Sums,
  rules: Rules,
): { verdict: Verdict; spent: bigint } {
  const refused = (code: string, text: string, evidence: string) => ({
    verdict: { ordinal, verdict: 'deny' as const, code: `spend.${code}`, text, evidence },
    spent: 0n,
  })
  const amount = amountOf(valueAt(args, rules.argument), rules.form, rules.decimals)
  if ('fault' in amount) {
    const text = `the amount in "${rules.argument}" cannot be used, ${amount.fault}. Send ${acceptedAmount(rules)}.`
    return refused('no-amount', text, amount.fault)
  }
  if (
    rules.currency !== undefined &&
    valueAt(args, rules.currency.argument) !== rules.currency.is
  ) {
    const text = `"${rules.currency.argument}" must be exactly "${rules.currency.is}"; other currencies cannot be spent here.`
    return refused('currency', text, `not ${rules.currency.is}`)
  }
  const { units } = amount
  const all = [
    { code: 'call', what: 'one call', limit: rules.call, before: 0n },
    {
      code: 'conversation',
      what: 'this conversation',
      limit: rules.conversation,
      before: sums.total,
    },
    { code: 'day', what: 'one day of this conversation', limit: rules.day, before: sums.day },
  ].flatMap(({ limit, ...one }) =>
    limit === undefined
      ? []
      : [{ ...one, limit, left: limit > one.before ? limit - one.before : 0n }],
  )
  const over = all.find(({ left }) => units > left)
  if (over === undefined) return { verdict: { ordinal, verdict: 'allow' }, spent: units }

  const money = (value: bigint) => textOfUnits(value, rules.decimals)
  const evidence = `${money(units)} after ${money(over.before)} is over ${money(over.limit)} for ${over.what}`
  // The model acts on the remaining amount, so it must satisfy every limit, not only the first.
  const least = all.reduce((one, other) => (other.left < one.left ? other : one), over)
  const inOneCall = least.code === 'call' ? ' in one call' : ''
  const text = `${evidence}. At most ${money(least.left)} can still be spent${inOneCall}; more needs a person.`
  return refused(`over-${over.code}`, text, evidence)
}

function acceptedAmount({ form, decimals }: Rules): string {
  switch (form) {
    case 'integer':
      return `a JSON integer of 0 or more that counts units of ${textOfUnits(1n, decimals)}`
    case 'decimal-text':
      return `a text such as "${textOfUnits(1250n, decimals)}"`
    case 'number':
      return `a JSON number of 0 or more with at most ${decimals} decimals`
  }
}

function compare(one: RoundId, other: RoundId): number {
  return one.turn - other.turn || one.round - other.round
}

function outOfOrder({ ordinal }: Pick<GuardedCall, 'ordinal'>): Verdict {
  const text =
    'its spending could not be counted, because a later round was counted before. Make the call again.'
  return { ordinal, verdict: 'deny', code: 'spend.out-of-order', text }
}

// ── Options ──

const optionNames = Object.keys({
  name: true,
  tools: true,
  argument: true,
  form: true,
  decimals: true,
  currency: true,
  limits: true,
  rememberedHours: true,
} satisfies Record<keyof SpendGuardOptions, true>)

function spendRules(options: SpendGuardOptions): Rules {
  checkKeys('options', options, optionNames)
  const {
    tools,
    argument,
    form = 'integer',
    decimals = 2,
    currency,
    limits,
    rememberedHours = 48,
  } = options
  if (!Array.isArray(tools) || tools.length === 0)
    throw invalid('tools', tools, "the names of the tools that spend, e.g. ['pay']")
  if (typeof argument !== 'string' || argument === '')
    throw invalid('argument', argument, 'the name of the argument with the amount')
  if (!['integer', 'decimal-text', 'number'].includes(form))
    throw invalid('form', form, 'integer, decimal-text or number')
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 9)
    throw invalid('decimals', decimals, 'a whole number from 0 to 9')
  if (currency !== undefined && !(currency.argument && currency.is))
    throw invalid('currency', currency, 'an argument and the currency it must be')
  checkKeys('currency', currency, ['argument', 'is'])
  if (!(rememberedHours >= 25 && rememberedHours <= 720))
    throw invalid(
      'rememberedHours',
      rememberedHours,
      'hours from 25, so that a day is remembered whole, to 720',
    )
  checkKeys('limits', limits, ['call', 'conversation', 'day'])
  if (Object.values(limits ?? {}).every((limit) => limit === undefined))
    throw invalid('limits', limits, 'at least one of call, conversation and day')
  const units = (name: 'call' | 'conversation' | 'day') => {
    const limit = limits[name]
    if (limit === undefined) return undefined
    const amount =
      typeof limit === 'string' ? unitsOf(limit, decimals) : { fault: 'it is not a text' }
    if ('fault' in amount)
      throw invalid(
        `limits.${name}`,
        limit,
        `a text such as "${textOfUnits(10000n, decimals)}" (${amount.fault})`,
      )
    return amount.units
  }
  return {
    argument,
    form,
    decimals,
    currency,
    call: units('call'),
    conversation: units('conversation'),
    day: units('day'),
  }
}

function checkKeys(what: string, given: unknown, known: readonly string[]): void {
  const unknown = keyFault(given, known)
  if (unknown !== undefined)
    throw new WeirError('settings.invalid', `the spend guard's ${what} have ${unknown}`)
}

function invalid(option: string, value: unknown, accepted: string): WeirError {
  return new WeirError(
    'settings.invalid',
    `the spend guard's ${option} is ${JSON.stringify(value)?.slice(0, 200) ?? 'missing'}. Give it ${accepted}.`,
  )
}
