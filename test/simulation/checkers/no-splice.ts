// The conversation received the text and the argument bytes that the model streamed in one attempt.
// They contain no part of another attempt.

import type { Checker, Finding } from '../evidence.ts'
import type { ModelStream } from '../world/ledger.ts'

type Content = { text: string; calls: { id: string | null; name: string | null; raw: string }[] }

export const noSplice: Checker = {
  name: 'no-splice',
  check(evidence) {
    const findings: Finding[] = []
    const streams = Map.groupBy(evidence.ledger.streams, ({ conversation, turn, round }) =>
      JSON.stringify([conversation, turn, round]),
    )
    const streamed = new Map(
      [...streams].map(([round, list]) => [
        round,
        new Set(
          list
            .filter(({ finished }) => finished)
            .map((stream) => JSON.stringify(contentOf(stream))),
        ),
      ]),
    )
    for (const { message } of evidence.all('conversation-events', 'round-outcome')) {
      const { conversation, turn, round, response, failure } = message
      if (failure !== null) continue
      const received: Content = {
        text: response.text,
        calls: response.calls.map(({ id, name, raw }) => ({ id, name, raw })),
      }
      const name = JSON.stringify([conversation, turn, round])
      if (!streamed.get(name)?.has(JSON.stringify(received)))
        findings.push({
          problem: `the response of ${name} is none of the ${streamed.get(name)?.size ?? 0} responses of the model: ${JSON.stringify(received)}; the model sent ${[...(streamed.get(name) ?? [])]}`,
          conversation,
        })
    }
    return findings
  },
}

type Call = Content['calls'][number]

/**
 * A repeated call in one response counts once. A copy without arguments only announces the call.
 */
function isRepeat(call: Call, n: number, sent: Call[]): boolean {
  return sent.some(({ id, name, raw }, k) => {
    const isOfIt = id !== null && id === call.id && name === call.name
    return isOfIt && ((call.raw === '' && raw !== '') || (k < n && raw === call.raw))
  })
}

/**
 * An independent fold: the argument text is the deltas if there are any, otherwise the start's
 * text.
 */
function contentOf({ events }: ModelStream): Content {
  const calls = new Map<
    number,
    { id: string | null; name: string | null; start: string; deltas: string }
  >()
  let text = ''
  for (const event of events) {
    if (event.kind === 'text') text += event.text
    if (event.kind === 'call_start')
      calls.set(event.index, { id: event.id, name: event.name, start: event.text, deltas: '' })
    const call = calls.get(event.index)
    if (event.kind === 'call_arguments' && call !== undefined) call.deltas += event.text
  }
  const sent = [...calls.values()].map(({ id, name, start, deltas }) => ({
    id,
    name,
    raw: deltas === '' ? start : deltas,
  }))
  return { text, calls: sent.filter((call, n) => !isRepeat(call, n, sent)) }
}
