import { describe, expect, it } from '@jest/globals'
import {
  entriesAfter,
  laterSummary,
  leavingEntries,
  summarisedText,
  summaryTask,
  withSummary,
} from '../../../../services/llm-gateway/performer/history-summary.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { HistoryEntry, HistorySummary } from '../../../../shared/contract/messages.ts'
import { call, modelSays, result, userSays } from '../samples.ts'

/** `rounds`: the rounds of each turn. Turns are 0, 10, 20. */
function historyOf(...rounds: number[]): HistoryEntry[] {
  return rounds.flatMap((count, n) => [
    userSays(`question ${n}`, { turn: n * 10 }),
    ...Array.from({ length: count }, (_, round) =>
      modelSays({ calls: [call()] }, { turn: n * 10, round: round + 1, results: [result()] }),
    ),
  ])
}

const names = (entries: HistoryEntry[]) => entries.map(({ turn, round }) => `${turn}/${round}`)
const left = (entries: HistoryEntry[], keep: { rounds?: number; tokens?: number }, turn: number) =>
  names(leavingEntries(entries, keep, turn)).join(' ')

function summaryThrough(throughTurn: number, throughRound: number): HistorySummary {
  return {
    type: 'history-summary',
    conversation: 'c',
    turn: 20,
    round: 1,
    entries: 3,
    by: '',
    throughTurn,
    throughRound,
    text: 'the summary',
    note: '',
  }
}

describe('the entries that leave a full context', () => {
  it.each([
    [
      'the rounds before the newest ones',
      historyOf(2, 3),
      { rounds: 1 },
      10,
      '0/0 0/1 0/2 10/1 10/2',
    ],
    [
      'no message of a turn whose first round stays',
      historyOf(2, 1, 0),
      { rounds: 1 },
      20,
      '0/0 0/1 0/2',
    ],
    ['half of the rounds if the kept part is too large', historyOf(4), { rounds: 9 }, 0, '0/1 0/2'],
    ['never the newest round of the open turn', historyOf(1), { rounds: 1 }, 0, ''],
    ['everything before a turn that has no round', historyOf(1, 0), { rounds: 1 }, 10, '0/0 0/1'],
    ['half of the rounds if all have room', historyOf(3), { tokens: 100 }, 0, '0/1 0/2'],
    ['the rounds without room for their tokens', historyOf(3), { tokens: 10 }, 0, '0/1'],
    ['nothing from a history of one message', historyOf(0), { rounds: 1 }, 0, ''],
  ])('are %s', (_, entries, keep, turn, expected) => {
    expect(left(entries, keep, turn)).toBe(expected)
  })

  it('are fewer each time until only the newest round and the message are there', () => {
    let entries = historyOf(9, 9)
    for (let n = 0; n < 20; n += 1) {
      const leaving = leavingEntries(entries, { rounds: 4 }, 10)
      if (leaving.length === 0) break
      entries = entries.filter((entry) => !leaving.includes(entry))
    }
    expect(names(entries)).toEqual(['10/0', '10/9'])
  })
})

describe('a summary', () => {
  it('stands for the entries up to its place, but not for the message of the open turn', () => {
    const entries = historyOf(2, 3)
    expect(names(entriesAfter(entries, summaryThrough(10, 2), 10))).toEqual(['10/0', '10/3'])
    expect(names(entriesAfter(entries, summaryThrough(10, 2), 20))).toEqual(['10/3'])
    const sent = withSummary(entriesAfter(entries, summaryThrough(0, 2), 10), summaryThrough(0, 2))
    expect(sent.map(({ user }) => user).slice(0, 2)).toEqual(['the summary', 'question 1'])
  })

  it('counts only if no other one stands for more', () => {
    const [a, b] = [summaryThrough(0, 9), summaryThrough(10, 1)]
    expect(laterSummary(a, b)).toBe(b)
    expect(laterSummary(b, a)).toBe(b)
    expect(laterSummary(undefined, a)).toBe(a)
    expect(laterSummary(a, undefined)).toBe(a)
  })

  it('counts over one of an earlier request, even if it stands for less', () => {
    const earlier = { ...summaryThrough(10, 2), turn: 20 }
    const later = { ...summaryThrough(0, 1), turn: 30 }
    expect(laterSummary(earlier, later)).toBe(later)
    expect(laterSummary(later, earlier)).toBe(later)
  })

  it('is requested with an earlier summary and within its limit', () => {
    const long = modelSays({}, { results: [result({ text: 'ä'.repeat(1_000_000) })] })
    const task = summaryTask(
      [userSays('hello'), ...Array.from({ length: 20 }, () => long)],
      summaryThrough(0, 1),
    )
    expect(task).toContain('the summary\nUser: hello\nResult (ok): ä')
    expect(Buffer.byteLength(task)).toBeLessThan(limits.historySummarisedBytesMax + 1_000)
  })

  it('is cut to its limit', () => {
    const text = summarisedText('x'.repeat(limits.historySummaryBytesMax * 2))
    expect(Buffer.byteLength(text)).toBeLessThan(limits.historySummaryBytesMax + 200)
  })
})
