// A guest with a growing history, in memory: each round has one call with other arguments, so no rule
// of the loop-detector fires, and a result of 2 KiB.

import type { GuardSession, GuestRequest } from '../../client/guard/guest-conversation.ts'
import { responseMs } from './guest-times.ts'

/** Its conversations. */
type Front = Pick<GuardSession, 'conversation'>

const input = (n: number) => ({ command: `show file-${n}.ts` })
const result = 'x'.repeat(2_048)
const tools = [
  {
    name: 'exec',
    description: 'Runs a command.',
    input_schema: { type: 'object', properties: { command: { type: 'string' } } },
  },
]

const callOf = (n: number) => ({ type: 'tool_use', id: `call_${n}`, name: 'exec', input: input(n) })

/** The request after this number of rounds. */
export function requestWith(rounds: number): GuestRequest {
  const messages = [
    { role: 'user', content: 'Read the files.' },
    ...Array.from({ length: rounds }, (_, n) => [
      { role: 'assistant', content: [callOf(n)] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `call_${n}`, content: result }],
      },
    ]).flat(),
  ]
  return { format: 'anthropic', body: { messages, tools } }
}

/** The milliseconds of beforeModel and afterModel in each round, by the rounds of its history. */
export type GuestTimes = { before: number[]; after: number[] }

/** Plays `rounds` rounds of a new conversation. Throws if a request is not judged. */
export async function playGuest(guard: Front, id: string, rounds: number): Promise<GuestTimes> {
  const conversation = guard.conversation(id)
  const times: GuestTimes = { before: [], after: [] }
  for (let n = 0; n < rounds; n += 1) {
    const request = requestWith(n)
    const content = [callOf(n)]
    const answer = { type: 'message', role: 'assistant', content, stop_reason: 'tool_use' }
    times.before.push(
      await responseMs(async () => {
        const { judged, action } = await conversation.beforeModel(request)
        if (!judged || action !== 'none') throw new Error(`round ${n}: judged ${judged}, ${action}`)
      }),
    )
    times.after.push(
      await responseMs(async () => {
        const [call] = await conversation.afterModel({ request, answer })
        if (call?.verdict !== 'allow') throw new Error(`round ${n}: ${call?.verdict} ${call?.text}`)
      }),
    )
  }
  return times
}

/** The milliseconds until a new log has judged a history that it does not know. */
export async function catchUp(guard: Front, id: string, rounds: number): Promise<number> {
  const request = requestWith(rounds)
  return responseMs(async () => {
    const { judged } = await guard.conversation(id).beforeModel(request)
    if (!judged) throw new Error(`a history of ${rounds} rounds was not judged`)
  })
}
