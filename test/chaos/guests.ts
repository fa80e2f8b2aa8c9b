// The load of guests: agents that own their model and tools, and ask fronts over HTTP. Each request
// goes to any front, and again to any front after a broken connection. A guest runs a call only after
// the verdict `run`, and notes the run. Some repeat a broken call until Weir ends their turn.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Advice, CallVerdict } from '../../client/guard/guest-conversation.ts'
import type { GuestAsked, GuestRun } from '../evidence/evidence.ts'
import type { Random } from '../simulation/random.ts'
import { contentMark } from './content-mark.ts'
import { endsWithin } from './ends-within.ts'

export type GuestsOptions = {
  /** The addresses of the fronts. */
  fronts: readonly string[]
  random: Random
  /** Conversations at once. */
  clients: number
}

export type GuestLoad = {
  readonly runs: GuestRun[]
  readonly asked: GuestAsked[]
  /** Turns that are over. */
  turns(): number
  /** Requests that a guest sent again. */
  repeats(): number
  /** Begins no further turn. Resolves when all have ended (true), or after `drainMs`. */
  drain(drainMs: number): Promise<boolean>
}

const pauseMs = 300
/** A guest ends a request that lasts longer. Broker faults last for half a minute. */
const patienceMs = 60_000
const waitMs = 5_000
const roundsMax = 6

type Block = { type: string; [field: string]: unknown }
type Call = { id: string; mark: string | undefined; risk: string }

/** The name of the guest and of its tool. Guards of the run judge all tools, or some by name. */
export const guestName = 'guest'
const tool = {
  name: 'note',
  description: 'Notes a mark.',
  input_schema: {
    type: 'object',
    properties: { mark: { type: 'string' }, risk: { type: 'string' } },
    required: ['mark'],
  },
}

export function startGuests({ fronts, random, clients }: GuestsOptions): GuestLoad {
  const runs: GuestRun[] = []
  const asked: GuestAsked[] = []
  const over = new AbortController()
  let isStopping = false
  let turns = 0
  let again = 0

  const running = Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const dice = random.fork(`guest-${client}`)
      for (let n = 0; !isStopping; n++) await converse(`g${client}-${n}`, dice)
    }),
  )

  async function converse(conversation: string, dice: Random): Promise<void> {
    const messages: unknown[] = []
    const last = dice.between(1, 3)
    for (let turn = 1; turn <= last && !over.signal.aborted; turn++) {
      messages.push({ role: 'user', content: `Turn ${turn} of the ${contentMark}.` })
      await turnOf({ conversation, turn, messages, dice, isStubborn: dice.chance(0.3) })
      turns += 1
      if (isStopping) break
    }
    await post('end-turn', { conversation }, dice)
  }

  async function turnOf({
    conversation,
    turn,
    messages,
    dice,
    isStubborn,
  }: {
    conversation: string
    turn: number
    messages: unknown[]
    dice: Random
    isStubborn: boolean
  }): Promise<void> {
    const rounds = isStubborn ? roundsMax + 4 : dice.between(1, roundsMax)
    for (let round = 1; !over.signal.aborted; round++) {
      const body = { messages: [...messages], tools: [tool], max_tokens: 1_000 }
      const request = { conversation, format: 'anthropic', body }
      const advice = (await post('before-model', request, dice)) as Advice | undefined
      const { action, judged } = advice ?? { action: 'none', judged: false }
      asked.push({ conversation, turn, round, action, judged, isStubborn })
      if (action === 'end') break
      const isLast = round >= rounds || (action === 'text_only' && !isStubborn)
      const calls = isLast ? [] : callsOf({ conversation, turn, round, dice, isStubborn })
      const content =
        calls.length === 0 ? [{ type: 'text', text: `Done, ${contentMark}.` }] : calls.map(blockOf)
      messages.push({ role: 'assistant', content })
      const verdicts = await verdictsOn(request, content, dice)
      if (calls.length === 0) break
      messages.push({
        role: 'user',
        content: calls.map((call, at) => resultOf(conversation, call, verdicts[at])),
      })
    }
    messages.push({ role: 'assistant', content: [{ type: 'text', text: 'The turn is over.' }] })
  }

  /** Ids are the same in each round. The mark of a call is unique in the run. */
  function callsOf({
    conversation,
    turn,
    round,
    dice,
    isStubborn,
  }: Record<'turn' | 'round', number> & {
    conversation: string
    dice: Random
    isStubborn: boolean
  }): Call[] {
    if (isStubborn) return [{ id: 'call_0', mark: undefined, risk: 'none' }]
    return Array.from({ length: dice.between(1, 3) }, (_, at) => ({
      id: `call_${at}`,
      mark: `${contentMark}/${conversation}/${turn}/${round}/${at}`,
      risk: dice.chance(0.1) ? 'ledger' : dice.chance(0.1) ? 'lookout' : 'none',
    }))
  }

  /** Runs the call if its verdict allows it. */
  function resultOf(
    conversation: string,
    { id, mark }: Call,
    verdict: CallVerdict | undefined,
  ): Block {
    const isRun = verdict?.verdict === 'allow'
    const text = isRun ? `did ${mark}` : (verdict?.text ?? 'Not run: no answer of the front.')
    if (isRun) runs.push({ conversation, at: Date.now(), text, call: { mark: mark ?? '' } })
    return { type: 'tool_result', tool_use_id: id, content: text, is_error: !isRun }
  }

  /** Empty: a request was ended, and the front has reported the calls as not run. */
  async function verdictsOn(
    request: object,
    content: readonly Block[],
    dice: Random,
  ): Promise<CallVerdict[]> {
    const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
    const usage = { input_tokens: 1, output_tokens: 1 }
    const answer = { type: 'message', role: 'assistant', content, stop_reason, usage }
    for (;;) {
      const path = `after-model?waitMs=${waitMs}`
      const got = (await post(path, { ...request, answer }, dice, { isOnce: true })) as
        | { calls: CallVerdict[] }
        | undefined
      if (got === undefined) return []
      if (got.calls.every(({ verdict }) => verdict !== 'pending')) return got.calls
    }
  }

  /**
   * Sends it to any front until one answers. Undefined: the run is over, or with `isOnce` this guest
   * ended its request.
   */
  async function post(
    path: string,
    body: object,
    dice: Random,
    { isOnce = false } = {},
  ): Promise<unknown> {
    for (let tries = 0; !over.signal.aborted; tries++) {
      if (tries > 0) again += 1
      const front = fronts[dice.below(fronts.length)]
      const patience = AbortSignal.timeout(patienceMs)
      try {
        const response = await fetch(`${front}/v1/guest/${guestName}/${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
          signal: AbortSignal.any([patience, over.signal]),
        })
        const text = await response.text()
        if (response.ok) return text === '' ? undefined : JSON.parse(text)
        if (response.status < 500 && response.status !== 429)
          throw new Error(`${path} was answered with ${response.status}: ${text}`)
      } catch (error) {
        if (error instanceof Error && error.message.includes('was answered with')) throw error
        if (isOnce && patience.aborted) return undefined
      }
      await sleep(pauseMs)
    }
    return undefined
  }

  return {
    runs,
    asked,
    turns: () => turns,
    repeats: () => again,
    async drain(drainMs) {
      isStopping = true
      const isDrained = await endsWithin(running, drainMs)
      over.abort()
      await running.catch(() => {})
      return isDrained
    },
  }
}

function blockOf({ id, mark, risk }: Call): Block {
  const input = mark === undefined ? {} : { mark, risk }
  return { type: 'tool_use', id, name: tool.name, input }
}
