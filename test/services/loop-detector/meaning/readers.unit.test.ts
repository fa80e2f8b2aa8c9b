// The words of a call for its reader, at the exact lengths from which they count.

import { describe, expect, it } from '@jest/globals'
import type { CallEvidence } from '../../../../services/loop-detector/evidence/call-evidence.ts'
import { agentStarted } from '../../../../services/loop-detector/meaning/agent-task.ts'
import { openedAddress } from '../../../../services/loop-detector/meaning/page-reference.ts'
import { spokenBy } from '../../../../services/loop-detector/meaning/question.ts'

const call = (tool: string, prompt: string, text: string) =>
  ({ tool, value: { prompt }, text, effect: 'opaque', isDenied: false }) as unknown as CallEvidence
const answer = (length: number) =>
  'word '
    .repeat(20)
    .slice(0, length - 1)
    .trimEnd()
    .padEnd(length, 'x')

describe('an answer counts as one', () => {
  it.each([
    ['of a person', 'ask_user', 'Which color?', 8],
    ['of an agent whose task goes on', 'consult', 'What is the next task?', 64],
    ['that may be reworded', 'agent', 'Find the cause.', 24],
  ])('%s, from its length on', (_, tool, prompt, length) => {
    expect(spokenBy(call(tool, prompt, answer(length))).question).toBeDefined()
    expect(spokenBy(call(tool, prompt, answer(length - 1))).question).toBeUndefined()
  })

  it('and a report has its words and names', () => {
    const { question, task, report } = spokenBy(
      call('agent', 'Find the cause.', 'The cause is in src/token.ts, 3 lines of refresh.'),
    )
    expect(report).toEqual({
      words: ['caus', 'toke', 'line', 'refr'],
      names: ['src/token.ts', '3'],
    })
    expect(question).toMatchObject({ report: report.words, names: report.names })
    expect(task).toBeDefined()
    expect(spokenBy(call('agent', 'Do the next task.', answer(64))).task).toBeUndefined()
    expect(spokenBy(call('consult', 'Find the cause.', answer(64))).task).toBeUndefined()
  })
})

it('an agent that starts has its id in the first 512 characters', () => {
  const started = (id: string, end: number) =>
    agentStarted(call('Task', 'Go.', `launched ${id.padStart(end - 'launched '.length)}`))
  expect(started('agentId: abcd', 512)).toBe('abcd')
  expect(started('agentId: abcd', 513)).toBeUndefined()
  expect(started('agentId: abcde', 513)).toBe('abcd')
})

it('a call opens an address in up to 2,048 characters', () => {
  const raw = (length: number) =>
    `${'{"url":"https://a.example.com/b","x":"'.padEnd(length - 2, 'y')}"}`
  expect(openedAddress('browser_navigate', raw(2_048))).toEqual([
    'https://a.example.com/b',
    'a.example.com',
  ])
  expect(openedAddress('browser_navigate', raw(2_049))).toEqual([])
})
