// Sessions of a guest whose agents start sub-agents, up to five in one response, and each of them may do the
// same. A session has caps, its requests go to any front, and fronts die. An operator stops some sessions
// while their sub-agents run.

import type { Guest } from '../../../shared/agents/guest.ts'
import { policyOf } from '../../../shared/agents/policy/policy.ts'
import { guestConversation } from '../../../shared/contract/topology.ts'
import { lowestTreeCaps } from '../../../shared/contract/turn/tree-caps.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { GuestChild } from '../../evidence/evidence.ts'
import { answerOf, requestOf, type Said, saidText } from '../../support/guest-requests.ts'
import { declarationWith } from '../../support/messages.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import type { Fronts } from './fronts.ts'
import type { Ledger } from './ledger.ts'

/** The host whose tool `Task` starts an agent. */
const host = 'claude-code'
const tools = ['Task', 'read'].map((name) =>
  declarationWith({ name, description: `${name} something`, schema: '{"type":"object"}' }),
)
const depthMax = 2
const roundsMax = 4
const retriesMax = 6
const answerMs: Milliseconds = 240_000

/** The guest with the caps of its sessions. */
export function withSessions({ settings, ...guest }: Guest, random: Random): Guest {
  const { version: _, ...policy } = settings.policy
  const caps = { atOnce: random.between(1, 3), children: random.between(2, 6) }
  const tree = lowestTreeCaps(null, caps)
  return { ...guest, settings: { ...settings, policy: policyOf({ ...policy, tree }) } }
}

export type SessionsOptions = {
  ledger: Ledger
  random: Random
  scheduler: Scheduler
  fronts: Fronts
  agent: string
  durationMs: Milliseconds
  /** Stops the tree of a root, and releases it later. */
  stopTree(root: string): void
}

type Place = { conversation: string; root: string; parent?: string; depth: number; random: Random }

export function startSessions(options: SessionsOptions): { readonly running: number } {
  const { ledger, random, scheduler, fronts, agent, durationMs, stopTree } = options
  let running = 0
  for (let s = random.between(1, 3); s > 0; s--) {
    const own = random.fork(`session ${s}`)
    const root = guestConversation(agent, `s${s}`)
    scheduler.at(scheduler.now() + own.below(durationMs / 2), () => {
      running += 1
      const ended = () => {
        running -= 1
      }
      live({ conversation: root, root, depth: 0, random: own }).then(ended, (error: unknown) => {
        ledger.guests.failures.push(error)
        ended()
      })
    })
  }
  return {
    get running() {
      return running
    },
  }

  async function live(place: Place): Promise<void> {
    const turn = { user: `do ${place.conversation}`, responses: [] as Said[] }
    for (let round = 0; round <= roundsMax; round++) {
      const said = await oneRound(place, turn, round)
      if (said === undefined) return
      turn.responses.push(said)
      if (said.calls.length === 0) break
    }
    await asked(place, (front) => front.endTurn(), 5_000)
  }

  /** Undefined: no front answers. */
  async function oneRound(
    place: Place,
    turn: { user: string; responses: Said[] },
    round: number,
  ): Promise<Said | undefined> {
    const request = { ...requestOf('anthropic', [turn], tools), host }
    const advice = await asked(place, (front) => front.beforeModel(request), 30_000)
    if (advice === undefined) return undefined
    if (advice.action !== 'none' || round === roundsMax) return saidText('done')
    const said = script(place, round)
    const answer = { ...answerOf(request, said), request }
    await sleep(place.random.between(1, 2_000)) // the model
    const verdicts = await asked(place, (front) => front.afterModel(answer), answerMs)
    if (verdicts === undefined) return undefined
    await Promise.all(
      said.calls.map(async (call, at) => {
        const verdict = verdicts[at]
        const isRun = verdict?.verdict === 'allow'
        const text = isRun ? `did ${call.arguments}` : (verdict?.text ?? 'not run')
        if (isRun) await run(place, call, text)
        Object.assign(call, { result: { text, isError: !isRun } })
      }),
    )
    return said
  }

  async function run(place: Place, call: Said['calls'][number], text: string): Promise<void> {
    const { conversation, root, depth, random } = place
    const { mark } = JSON.parse(call.arguments) as { mark: string }
    ledger.guests.runs.push({ conversation, root, at: scheduler.now(), text, call: { mark } })
    if (call.name !== 'Task') return sleep(random.below(3_000))
    const child: GuestChild = { root, from: scheduler.now(), until: Number.POSITIVE_INFINITY }
    ledger.guests.children.push(child)
    if (random.chance(0.15)) stopTree(root)
    const own = random.fork(mark)
    const below = guestConversation(agent, mark.replaceAll('/', '.'))
    await live({ conversation: below, root, parent: conversation, depth: depth + 1, random: own })
    child.until = scheduler.now()
  }

  /** The mark of a call is unique. */
  function script({ conversation, depth, random }: Place, round: number): Said {
    const isStorm = depth < depthMax && random.chance(0.5)
    if (!isStorm && random.chance(0.3)) return saidText('done')
    const count = isStorm ? random.between(2, 5) : random.between(1, 2)
    const name = isStorm ? 'Task' : 'read'
    const of = conversation.slice(conversation.lastIndexOf(':') + 1)
    return {
      text: '',
      calls: Array.from({ length: count }, (_, at) => ({
        id: `call_${at}`,
        name,
        arguments: JSON.stringify({ mark: `${of}/${round}/${at}` }),
        result: undefined,
      })),
    }
  }

  /** Asks any front until one answers. Undefined: none did. */
  async function asked<T>(
    { conversation, root, parent, random }: Place,
    request: (front: ReturnType<ReturnType<Fronts['at']>['blocking']>) => Promise<T>,
    ms: Milliseconds,
  ): Promise<T | undefined> {
    for (let tries = 0; tries < retriesMax; tries++) {
      const front = fronts.at(random.pick([0, 1]))
      const place = parent === undefined ? {} : { root, parent }
      const none = (): undefined => undefined
      const answer = front.isAlive
        ? await Promise.race([
            request(front.blocking(conversation, place)).then((value) => ({ value }), none),
            sleep(ms).then(none),
          ])
        : undefined
      if (answer !== undefined && front.isAlive) return answer.value
      await sleep(1_000)
    }
    return undefined
  }

  function sleep(ms: Milliseconds): Promise<void> {
    return new Promise((resolve) => {
      scheduler.at(scheduler.now() + Math.max(1, ms), resolve)
    })
  }
}
