import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { createUnjudgedTally } from '../../../../../../apps/http/fronts/proxy/unjudged/unjudged-tally.ts'
import { HttpError } from '../../../../../../apps/http/http-error.ts'
import { limits } from '../../../../../../shared/contract/limits.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'

/** `refuse`: the error of the next report of a guest, if there is one. */
function world(refuse: (agent: string) => Error | undefined = () => undefined) {
  const lines: string[] = []
  const counts = new Map<string, number>()
  const conversations = new Set<string>()
  const tally = createUnjudgedTally({
    isNamed: (agent) => agent === 'root',
    log: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
    conversationOf: async (agent, { conversation: id }) => ({
      ...scriptedGuard().conversation(id),
      async reportUnjudged(requests) {
        conversations.add(id)
        const error = refuse(agent)
        if (error !== undefined) throw error
        for (const { kind, count } of requests) {
          const key = `${agent} ${kind}`
          counts.set(key, (counts.get(key) ?? 0) + count)
        }
      },
    }),
  })
  const warned = (text: string) => lines.filter((line) => line.includes(text)).length
  return { tally, counts, conversations, warned }
}

describe('the tally of unjudged requests', () => {
  it('counts the requests of a guest of the operator also after many invented names', async () => {
    const { tally, counts } = world()
    tally.add('a', 'Gemini') // the first of its kind is reported at once
    await tally.settled()
    for (let n = 0; n < limits.frontAgentsMax; n += 1) tally.add(`evil-${n}`, 'Gemini')
    tally.add('root', 'Gemini')
    tally.add('other', 'Gemini')
    await tally.settled()
    expect([counts.get('root Gemini'), counts.get('other Gemini')]).toEqual([1, undefined])
  })

  it('warns once of each kind and counts all requests of each guest', async () => {
    const { tally, counts, conversations, warned } = world()
    for (let n = 0; n < 30; n += 1) tally.add(n % 3 === 0 ? 'a' : 'b', 'Gemini')
    tally.add('a', 'Ollama')
    await tally.settled()
    expect(counts).toEqual(
      new Map(Object.entries({ 'a Gemini': 10, 'b Gemini': 20, 'a Ollama': 1 })),
    )
    expect([warned('"kind":"Gemini"'), warned('"kind":"Ollama"'), warned('')]).toEqual([1, 1, 2])
    expect([...conversations]).toEqual(['unjudged'])
  })

  it('warns once of each kind that a veto refuses, up to its limit, and counts none', async () => {
    const { tally, counts, warned } = world()
    for (let n = 0; n < 1_000; n += 1) tally.refuse('a', `POST /${n % 500}`)
    await tally.settled()
    expect(warned('are refused')).toBe(limits.unjudgedKindsMax + 1)
    expect(counts.size).toBe(0)
  })

  it('counts kinds beyond its limit as one', async () => {
    const { tally, counts, warned } = world()
    for (let n = 0; n < 1_000; n += 1) tally.add('a', `POST /${n}`)
    await tally.settled()
    expect(counts.size).toBe(limits.unjudgedKindsMax + 1)
    expect(counts.get('a other paths')).toBe(1_000 - limits.unjudgedKindsMax)
    expect(warned('')).toBe(limits.unjudgedKindsMax + 1)
  })

  it('keeps the counts that the log did not take for the next report', async () => {
    let failures = 1
    const { tally, counts } = world(() => (failures-- > 0 ? new Error('no log') : undefined))
    tally.add('a', 'Gemini')
    await tally.settled()
    tally.add('a', 'Gemini')
    await tally.settled()
    expect(counts.get('a Gemini')).toBe(2)
  })

  it('drops the counts of a name that no guest can have', async () => {
    const refused = new HttpError(404, 'guests.agent', 'no guest')
    const { tally, counts, warned } = world((agent) => (agent === '..' ? refused : undefined))
    tally.add('..', 'Gemini')
    tally.add('a', 'Gemini')
    await tally.settled()
    expect([...counts]).toEqual([['a Gemini', 1]])
    expect(warned('could not be written')).toBe(0)
  })
})
