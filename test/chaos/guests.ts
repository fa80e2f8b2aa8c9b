// The load of guests: agents that own their model and tools, and ask fronts over HTTP. Each request
// goes to any front, and again to any front after a broken connection. A guest runs a call only after
// the verdict `run`, and notes the run. Some repeat a broken call until Weir ends their turn. Some start
// sub-agents, more than the caps of their tree allow.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Advice, CallVerdict } from '../../client/guard/guest-conversation.ts'
import { guestConversation } from '../../shared/contract/topology.ts'
import type { GuestAsked, GuestChild, GuestRun } from '../evidence/evidence.ts'
import type { Random } from '../simulation/random.ts'
import { contentMark } from './content-mark.ts'
import { endsWithin } from './ends-within.ts'

export type GuestsOptions = {
  /** The addresses of the fronts. */
  fronts: readonly string[]
  random: Random
  /** Conversations at once. */
  clients: number
  hasTrees: boolean
  /** The pause before each request, in place of a model. */
  thinkMs: number
}

export type GuestLoad = {
  readonly runs: GuestRun[]
  readonly asked: GuestAsked[]
  readonly children: GuestChild[]
  /** The roots of the trees in which a child runs now. */
  openTrees(): string[]
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
type Call = { id: string; name: string; mark: string | undefined; risk: string }
/** `parent`: undefined for a root. `depth`: of the agents above. */
type Place = { conversation: string; root: string; parent?: string; depth: number }

/** The name of the guest. Guards of the run judge all tools, or some by name. */
export const guestName = 'guest'
const tools = ['note', 'Task'].map((name) => ({
  name,
  description: `${name} takes a mark.`,
  input_schema: {
    type: 'object',
    properties: { mark: { type: 'string' }, risk: { type: 'string' } },
    required: ['mark'],
  },
}))
/** The host whose tool `Task` starts an agent. */
const host = 'claude-code'
const depthMax = 2

/** The caps of each session, and the operator's command that sets them. */
export const guestCaps = { atOnce: 2, children: 5 }
export const guestCapsCommand = [
  ...['policy', 'set', guestName],
  ...Object.entries(guestCaps).map(([cap, most]) => `tree.${cap}=${most}`),
]

export function startGuests({
  fronts,
  random,
  clients,
  hasTrees,
  thinkMs,
}: GuestsOptions): GuestLoad {
  const runs: GuestRun[] = []
  const asked: GuestAsked[] = []
  const children: GuestChild[] = []
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
    await live({ conversation, root: conversation, depth: 0 }, dice.between(1, 3), dice)
  }

  async function live(place: Place, last: number, dice: Random): Promise<void> {
    const messages: unknown[] = []
    for (let turn = 1; turn <= last && !over.signal.aborted; turn++) {
      messages.push({ role: 'user', content: `Turn ${turn} of the ${contentMark}.` })
      await turnOf({ place, turn, messages, dice, isStubborn: dice.chance(0.3) })
      turns += 1
      if (isStopping) break
    }
    await post('end-turn', namesOf(place), dice)
  }

  async function turnOf({
    place,
    turn,
    messages,
    dice,
    isStubborn,
  }: {
    place: Place
    turn: number
    messages: unknown[]
    dice: Random
    isStubborn: boolean
  }): Promise<void> {
    const { conversation } = place
    const rounds = isStubborn ? roundsMax + 4 : dice.between(1, roundsMax)
    for (let round = 1; !over.signal.aborted; round++) {
      const body = { messages: [...messages], tools, max_tokens: 1_000 }
      const request = { ...namesOf(place), host, format: 'anthropic', body }
      await sleep(thinkMs)
      const advice = (await post('before-model', request, dice)) as Advice | undefined
      const { action, judged } = advice ?? { action: 'none', judged: false }
      asked.push({ conversation, turn, round, action, judged, isStubborn })
      if (action === 'end') break
      const isLast = round >= rounds || (action === 'text_only' && !isStubborn)
      const calls = isLast ? [] : callsOf({ place, turn, round, dice, isStubborn })
      const content =
        calls.length === 0 ? [{ type: 'text', text: `Done, ${contentMark}.` }] : calls.map(blockOf)
      messages.push({ role: 'assistant', content })
      const verdicts = await verdictsOn(request, content, dice)
      if (calls.length === 0) break
      const results = calls.map((call, at) => resultOf(place, call, verdicts[at], dice))
      messages.push({ role: 'user', content: await Promise.all(results) })
    }
    messages.push({ role: 'assistant', content: [{ type: 'text', text: 'The turn is over.' }] })
  }

  /** Ids are the same in each round. The mark of a call is unique in the run. */
  function callsOf({
    place: { conversation, depth },
    turn,
    round,
    dice,
    isStubborn,
  }: Record<'turn' | 'round', number> & {
    place: Place
    dice: Random
    isStubborn: boolean
  }): Call[] {
    if (isStubborn) return [{ id: 'call_0', name: 'note', mark: undefined, risk: 'none' }]
    const isStorm = hasTrees && depth < depthMax && dice.chance(0.2)
    return Array.from({ length: isStorm ? dice.between(2, 5) : dice.between(1, 3) }, (_, at) => ({
      id: `call_${at}`,
      name: isStorm ? 'Task' : 'note',
      mark: `${contentMark}/${conversation}/${turn}/${round}/${at}`,
      risk: dice.chance(0.1) ? 'ledger' : dice.chance(0.1) ? 'lookout' : 'none',
    }))
  }

  /** Runs the call if its verdict allows it. */
  async function resultOf(
    place: Place,
    { id, name, mark = '' }: Call,
    verdict: CallVerdict | undefined,
    dice: Random,
  ): Promise<Block> {
    const isRun = verdict?.verdict === 'allow'
    const text = isRun ? `did ${mark}` : (verdict?.text ?? 'Not run: no answer of the front.')
    const { conversation, root } = place
    if (isRun)
      runs.push({
        conversation,
        root: guestConversation(guestName, root),
        at: Date.now(),
        text,
        call: { mark },
      })
    if (isRun && name === 'Task') await runChild(place, mark, dice.fork(mark))
    return { type: 'tool_result', tool_use_id: id, content: text, is_error: !isRun }
  }

  async function runChild(
    { conversation: parent, root, depth }: Place,
    mark: string,
    dice: Random,
  ) {
    const child: GuestChild = { root, from: Date.now(), until: Number.POSITIVE_INFINITY }
    children.push(child)
    // Ids of conversations stay readable, and an encrypted run shows no content.
    const conversation = mark.slice(contentMark.length + 1).replaceAll('/', '.')
    await live({ conversation, parent, root, depth: depth + 1 }, 1, dice)
    child.until = Date.now()
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
    children,
    openTrees: () =>
      [...new Set(children.flatMap(({ root, until }) => (until > Date.now() ? [root] : [])))].map(
        (root) => guestConversation(guestName, root),
      ),
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

function namesOf({ conversation, root, parent }: Place) {
  return parent === undefined ? { conversation } : { conversation, parent, root }
}

function blockOf({ id, name, mark, risk }: Call): Block {
  const input = mark === undefined ? {} : { mark, risk }
  return { type: 'tool_use', id, name, input }
}
