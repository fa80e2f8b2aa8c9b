// Judges a recorded session as Weir would have judged its agent: by the defaults, with the times of the
// results, and with the tools of the host that wait. The session goes on as recorded.

import { knownUsd } from '../../../services/llm-gateway/prices/known-prices.ts'
import type { Policy } from '../../../shared/contract/messages.ts'
import { maybeSecret, valueClasses } from '../../../shared/contract/redaction/value-classes.ts'
import { everything } from '../../../shared/contract/redaction/value-pattern.ts'
import { guestConversation } from '../../../shared/contract/topology.ts'
import { hostNamed } from '../../../shared/hosts/hosts.ts'
import { matchesIn } from '../../../shared/runtime/redaction/text-redaction.ts'
import {
  stopOf,
  type Transcript,
  type TranscriptResponse,
} from '../../../shared/transcript/transcript.ts'
import { type Money, noMoney, tokensOf } from '../../../shared/view/totals.ts'
import { play } from '../judge/play.ts'
import type { Scenario, Step, TraceHints } from '../judge/scenario.ts'
import { silentStep } from '../judge/timeline-scenario.ts'
import { withoutPasswords } from './hidden-passwords.ts'

/**
 * A turn in which Weir would have intervened, for the first time in `round` of `rounds`. `ended`: it would
 * have ended the turn. `roundsAfter`, `tokensAfter`, `moneyAfter`: after that end; 0: Weir would have
 * written to the model only.
 */
export type Loop = {
  conversation: string
  /** From 1, as `round` and `rounds`. */
  turn: number
  round: number
  rounds: number
  rule: string
  reason: string
  ended: boolean
  roundsAfter: number
  tokensAfter: number
  moneyAfter: Money
}

/** `failed`: calls whose result is an error. */
export type ToolFacts = { calls: number; failed: number }

/** A value in the arguments of a call that looks like a secret. `kind`: a class of redaction. */
export type Secret = { kind: string; tool: string }

export type JudgedSession = {
  conversation: string
  turns: number
  rounds: number
  calls: number
  tokens: number
  tools: ReadonlyMap<string, ToolFacts>
  /** Each value once. */
  secrets: Secret[]
  loops: Loop[]
}

/** A response of the session: its turn from 0, its number in the turn from 1, and its last step from 1. */
type Place = { turn: number; round: number; lastStep: number; response: TranscriptResponse }

export function judgedSession(
  { conversation, turns }: Transcript,
  { host, policy }: { host: string; policy: Policy },
): JudgedSession {
  const steps: Step[] = []
  const places: Place[] = []
  for (const [turn, { responses }] of turns.entries()) {
    steps.push({ kind: 'user' })
    for (const [at, response] of responses.entries()) {
      steps.push(...stepsOf(response, places.length))
      places.push({ turn, round: at + 1, lastStep: steps.length, response })
    }
  }
  const scenario: Scenario = {
    id: guestConversation(host, conversation),
    steps,
    tool_hints: pollersOf(host),
    isImported: true,
  }
  const calls = places.flatMap(({ response }) => response.calls)
  const secrets = secretsIn(calls.map(({ name, arguments: text }) => ({ tool: name, text })))
  return {
    conversation,
    turns: turns.length,
    rounds: places.length,
    calls: calls.length,
    tokens: tokensIn(places),
    tools: toolsOf(calls),
    secrets: [...secrets.values()],
    loops: loopsIn(conversation, places, raisedIn(scenario, policy)).map((loop) => ({
      ...loop,
      reason: safeReason(loop, places, secrets),
    })),
  }
}

type Raised = { step: number; rule: string; action: string; reason: string }

function raisedIn(scenario: Scenario, policy: Policy): Raised[] {
  const caps = { calls: undefined, rounds: undefined }
  return play(scenario, () => policy, caps).flatMap((raised) => {
    if (!('intervention' in raised) || raised.shadow) return []
    const { rule, action, reason } = raised.intervention
    return [{ step: raised.step, rule, action, reason }]
  })
}

function pollersOf(host: string): Record<string, TraceHints> {
  const { pollers = [] } = hostNamed(host) ?? {}
  return Object.fromEntries(pollers.map((tool) => [tool, { poll: true }]))
}

function stepsOf(response: TranscriptResponse, turn: number): Step[] {
  const { text, reasoning, calls } = response
  if (calls.length === 0)
    return [silentStep({ text, thinks: reasoning.length > 0, stop: stopOf(response) })]
  return calls.flatMap(({ name, arguments: raw, result }): Step[] => {
    if (typeof result !== 'object') return [] // nobody knows how it ended
    const { text, isError, at } = result
    const outcome = isError ? 'error' : 'ok'
    const known = at === undefined ? {} : { at }
    return [
      { kind: 'tool', tool: name, args: {}, raw_args: raw, turn, outcome, result: text, ...known },
    ]
  })
}

function toolsOf(calls: readonly TranscriptResponse['calls'][number][]): Map<string, ToolFacts> {
  const tools = new Map<string, ToolFacts>()
  for (const { name, result } of calls) {
    const facts = tools.get(name) ?? { calls: 0, failed: 0 }
    facts.calls += 1
    if (typeof result === 'object' && result.isError) facts.failed += 1
    tools.set(name, facts)
  }
  return tools
}

function loopsIn(
  conversation: string,
  places: readonly Place[],
  raised: readonly Raised[],
): Loop[] {
  const turns = Map.groupBy(raised, ({ step }) => placeOf(places, step).turn)
  return [...turns].map(([turn, own]) => {
    const first = own[0] as Raised
    const end = own.find(({ action }) => action === 'end')
    const ofTurn = places.filter((place) => place.turn === turn)
    const after = end === undefined ? [] : ofTurn.filter(({ lastStep }) => lastStep > end.step)
    const { rule, reason } = end ?? first
    return {
      conversation,
      turn: turn + 1,
      round: placeOf(places, first.step).round,
      rounds: ofTurn.length,
      rule,
      reason,
      ended: end !== undefined,
      roundsAfter: after.length,
      tokensAfter: tokensIn(after),
      moneyAfter: moneyOf(after),
    }
  })
}

function tokensIn(places: readonly Place[]): number {
  return places.reduce((sum, { response }) => sum + tokensOf(response.usage), 0)
}

/** Providers with no tokens in a response name none. Only loops are priced: a price needs 60 us. */
function moneyOf(places: readonly Place[]): Money {
  const money = noMoney()
  for (const { response } of places) {
    const { model, usage } = response
    if (tokensOf(usage) === 0) continue
    const { name, provider } = model ?? {}
    const price =
      name === undefined || provider === undefined ? undefined : knownUsd({ provider, name }, usage)
    money.requests += 1
    if (price === undefined) money.unpriced += 1
    else {
      money.usd += price.usd
      money.prices = [price.version]
    }
  }
  return money
}

/** Classes of values that no argument should have. */
const secretKinds = ['key', 'card', 'iban']

/** Values by their class and the first tool. They stay in this file. */
type Values = ReadonlyMap<string, Secret>

/** In JSON a letter of an escape can stand in front of a value, so each string is searched too. */
function secretsIn(texts: Iterable<{ tool: string; text: string }>): Values {
  const values = new Map<string, Secret>()
  for (const { tool, text } of texts) {
    if (!maybeSecret.test(text)) continue
    for (const kind of secretKinds)
      for (const value of matchesIn(text, valueClasses.get(kind) ?? everything))
        if (!values.has(value)) values.set(value, { kind, tool })
  }
  return values
}

/** A reason also quotes results. */
function safeReason({ reason, turn }: Loop, places: readonly Place[], secrets: Values): string {
  const results = places
    .filter((place) => place.turn === turn - 1)
    .flatMap(({ response }) => response.calls)
    .flatMap(({ name: tool, result }) =>
      typeof result === 'object' ? [{ tool, text: result.text }] : [],
    )
  const others = secretsIn([...results, { tool: '', text: reason }])
  return withoutPasswords(withoutSecrets(reason, new Map([...secrets, ...others])))
}

/** A text can have the beginning of a value at its cut. */
const beginningMin = 8

function withoutSecrets(text: string, secrets: Values): string {
  let shown = text
  for (const [value, { kind }] of secrets) {
    const at = shown.indexOf(value.slice(0, beginningMin))
    if (at < 0) continue
    let end = at + beginningMin
    while (end < shown.length && shown[end] === value[end - at]) end += 1
    shown = withoutSecrets(`${shown.slice(0, at)}[${kind}]${shown.slice(end)}`, secrets)
  }
  return shown
}

/** The response with this step. A response without a step counts with the next one. */
function placeOf(places: readonly Place[], step: number): Place {
  return places.find(({ lastStep }) => lastStep >= step) as Place
}
