// A server that sends calls and closes the stream without a finish reason and without an end mark.

import { describe, expect, it } from '@jest/globals'
import { connect } from '../../../../../services/llm-gateway/performer/providers/providers.ts'
import { agentOf, readToEnd } from '../../samples.ts'

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const call = (text: string) =>
  chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'read', arguments: text } }] })

const whole = call('{"path":"a"}')
const half = call('{"path":')
const words = chunk({ content: 'Hello' })
const ended = whole + chunk({}, 'tool_calls')

/** The stops of the answers of one server, in order. */
async function stopsOf(answers: string[], endMark?: 'missing'): Promise<string[]> {
  const bodies = answers.values()
  const fetch = async () =>
    new Response(bodies.next().value, { headers: { 'content-type': 'text/event-stream' } })
  const agent = agentOf({}, { provider: 'openai-chat', ...(endMark && { endMark }) })
  const provider = await connect(agent, fetch)
  const stops: string[] = []
  for (const _ of answers) {
    const { ending } = await readToEnd(provider)
    stops.push(ending?.kind === 'finished' ? ending.stop : 'failed')
  }
  return stops
}

describe('an answer with calls and without any end', () => {
  it('counts if the setting of the model says that its server sends none', async () => {
    expect(await stopsOf([whole], 'missing')).toEqual(['other'])
  })

  it('counts after two such answers in sequence, and answers with words do not matter', async () => {
    const text = words + chunk({}, 'stop')
    expect(await stopsOf([whole, text, whole, whole])).toEqual(['cut', 'end', 'cut', 'other'])
  })

  it.each([
    ['one answer with calls has an end', [whole, ended, whole, whole], 'cut'],
    ['the calls of one answer are not whole', [whole, half, whole, whole], 'cut'],
    ['an answer ends after the lesson', [whole, whole, ended, whole], 'cut'],
  ])('is cut if %s', async (_, answers, last) => {
    expect((await stopsOf(answers)).at(-1)).toBe(last)
  })

  it('stays cut without a call, and with an event that cannot be read', async () => {
    expect(await stopsOf([words, `${whole}data: ping\n\n`], 'missing')).toEqual(['cut', 'cut'])
  })
})
