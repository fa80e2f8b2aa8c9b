// Each place that asks a person about a call. The question shows all arguments. Otherwise the place asks
// nothing and names the command that decides.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { addToInbox, beginInbox, shownInbox } from '../../apps/http/console/state/inbox.ts'
import { createAgFold } from '../../apps/http/edge/ag-ui/ag-fold.ts'
import { createResponseFold } from '../../apps/http/edge/responses/response-events.ts'
import { createUiFold } from '../../apps/http/edge/ui-stream/ui-fold.ts'
import { heldCalls } from '../../apps/http/fronts/mcp/held-call.ts'
import { resourceOwners } from '../../apps/http/fronts/mcp/resource-owners.ts'
import { approvalList } from '../../apps/service/approvals/list.ts'
import { beginTranscript, transcribe } from '../../apps/terminal/text/transcript.ts'
import type { TurnEvent } from '../../client/weir.ts'
import { argumentsOf, asSent } from '../../shared/contract/call/call-arguments.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { MessageOf } from '../../shared/contract/messages.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { answered, event, pending } from './http/edge/turn-of-events.ts'

const harm = 'rm -rf /'
/** The harmful member comes last, as a model would hide it. */
const longArguments = (bytes: number) => JSON.stringify({ note: 'x'.repeat(bytes), command: harm })

/** `asks`: a person can allow the call here. `shown`: all that the person reads. */
type Question = { asks: boolean; shown: string }
type Place = (text: string) => Question | Promise<Question>

/** The events of a turn whose call waits. The response has the beginning of long arguments only. */
function eventsOf(text: string): TurnEvent[] {
  const cut = text.slice(0, limits.activityArgumentBytesMax)
  const response = answered('', {}) as Extract<TurnEvent, { type: 'model-answered' }>
  const [call] = response.calls
  const calls = [{ ...call, rawArguments: cut, argumentsBytes: text.length }]
  const events = [event({ type: 'turn-started' }), event({ type: 'round-started', callsLeft: 9 })]
  return [...events, { ...response, calls } as TurnEvent, pending(0, text)]
}

function recordOf(text: string): MessageOf<'approval-pending'> {
  const event = pending(0, text) as Extract<TurnEvent, { type: 'approval-pending' }>
  return { ...event, calls: event.calls.map(asSent) }
}

const run = { threadId: 't', runId: 'r', messages: [] }
const head = { id: 'r', model: 'm', conversation: 'c', createdAt: 0, previous: null }
const approval = { id: 'k7f3', conversation: 'c', turn: 7, hash: 'h' }

const places: Record<string, Place> = {
  'the terminal of weir ask and weir chat'(text) {
    const layout = { columns: Number.POSITIVE_INFINITY, isLive: false, isTerminal: true }
    const { lines } = transcribe(beginTranscript(0), pending(0, text), layout, 0)
    return { asks: true, shown: lines.map((line) => line.text).join('\n') }
  },

  'the list of weir approvals'(text) {
    const waiting = {
      ...approval,
      ...argumentsOf({ arguments: text }),
      name: 'look',
      agent: 'a',
      program: null,
      question: null,
      since: 0,
      until: 9,
    }
    const lines = approvalList.lines(waiting as never, process.stdout)
    return { asks: true, shown: lines.join('\n') }
  },

  'the console'(text) {
    const inbox = beginInbox()
    addToInbox(inbox, recordOf(text), { agent: 'a', time: 0 })
    const [call] = shownInbox(inbox, 1).waiting
    // The card of a call without arguments has no form, and names the command.
    return {
      asks: call?.rawArguments !== null,
      shown: call?.rawArguments ?? `weir allow ${call?.id}`,
    }
  },

  'a page of the AI SDK'(text) {
    const chunks = eventsOf(text).flatMap(createUiFold().add)
    const asks = chunks.some(({ type }) => type === 'tool-approval-request')
    const inputs = chunks.filter(({ type }) => type === 'tool-input-available')
    return { asks, shown: JSON.stringify(inputs.at(-1)) }
  },

  'a client of AG-UI'(text) {
    const fold = createAgFold(run)
    const events = eventsOf(text).flatMap(fold.add)
    const sent = JSON.stringify([...events, ...fold.pause(fold.paused())])
    return { asks: sent.includes('"interrupt"'), shown: sent }
  },

  'a client of Responses'(text) {
    const fold = createResponseFold(head)
    const sent = JSON.stringify(eventsOf(text).flatMap(fold.add))
    return { asks: sent.includes('mcp_approval_request'), shown: sent }
  },

  async 'the host of weir mcp'(text) {
    const ended = new AbortController()
    const progress: unknown[] = []
    const verdict = { verdict: 'pending', approval, text: '' }
    const never = new Promise<never>(() => {})
    const verdicts = { first: async () => verdict, last: () => never }
    const placed = { id: 'p', name: 'look', input: text, index: 0, denial: '', verdicts }
    const calls = heldCalls({
      rounds: { place: async () => ({ ...placed, finish: async () => '' }) } as never,
      upstreams: {
        toolsFor: async () => ({ listed: [], declared: [], runs: new Map(), instructions: '' }),
        resources: resourceOwners(
          () => [],
          () => never,
          false,
        ),
      },
      approvals: { decide: () => never },
      by: 'host',
      clock: systemClock,
      log: { warn() {} } as never,
    })
    const asked = calls.call({
      ...{ id: 'one', name: 'look', input: text, traceparent: undefined, signal: ended.signal },
      ...{ canAsk: true, canPoll: false },
      onProgress(one) {
        progress.push(one)
        ended.abort() // it waits for Weir's command: the host leaves
      },
    })
    const answer = await asked
    if (answer.kind === 'question') return { asks: true, shown: answer.question }
    return { asks: false, shown: JSON.stringify(progress) }
  },
}

describe.each(Object.entries(places))('a question at %s', (_name, place) => {
  it.each([100, 2_500, 100_000, 900_000, 5_000_000])(
    'with arguments of %i bytes shows all of them, or names the command that decides',
    async (bytes) => {
      const text = longArguments(bytes)
      const { asks, shown } = await place(text)
      if (asks) expect([shown.includes(harm), shown.length > bytes]).toEqual([true, true])
      else expect(shown).toContain('weir allow k7f3')
    },
  )
})

/** Those of the edge serve the AI SDK, AG-UI, Responses, and `GET /v1/approvals`, which cuts nothing. */
const decidingFiles = [
  'http/console/console-routes.ts',
  'http/edge/access/own-weir.ts',
  'http/edge/approval-decisions.ts',
  'http/edge/chat/chat-request.ts',
  'http/edge/native/native-routes.ts',
  'http/fronts/mcp/held-call.ts',
  'service/approvals/asker.ts',
  'service/approvals/decide.ts',
]

it('each file of the program that decides a waiting call belongs to a place of this test', () => {
  const files = readdirSync('apps', { recursive: true, encoding: 'utf8' })
  const deciding = files.filter(
    (file) =>
      /\.ts$/.test(file) &&
      /\bdecideFor\(|approvals\.decide\(|\)\.decide\(|weir\.allow\(/.test(
        readFileSync(join('apps', file), 'utf8'),
      ),
  )
  expect(deciding.sort()).toEqual(decidingFiles)
})
