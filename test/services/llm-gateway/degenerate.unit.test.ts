import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { withReminder } from '../../../services/llm-gateway/degenerate/reminder.ts'
import {
  type Repetition,
  RepetitionWatch,
} from '../../../services/llm-gateway/degenerate/repetition-watch.ts'

/** Where the watch fires, and with which repetition. */
function watched(
  text: string,
  { cut = 7, known = [] as string[] } = {},
): (Repetition & { at: number }) | undefined {
  const watch = new RepetitionWatch(() => known)
  for (let at = 0; at < text.length; at += cut) {
    const found = watch.add(text.slice(at, at + cut))
    if (found !== undefined) return { ...found, at: at + cut }
  }
  return undefined
}

const words = (count: number) =>
  Array.from({ length: count }, (_, n) => `word${(n * 7919) % 10_007}`).join(' ')
const prose = `${words(600)}!`
/** A text without inner repeats. */
const unitOf = (length: number) =>
  Array.from({ length }, (_, n) => String.fromCodePoint(0x4e00 + n)).join('')
const ascii = (length: number) =>
  words(80)
    .slice(0, length - 1)
    .concat('\n')

describe('a response degenerates with', () => {
  it.each<[string, string, number]>([
    ['one word', 'actually ', 456],
    ['one character', 'a', 4096],
    ['blank lines', '\n', 4096],
    ['a sentence', 'I will look at the file now. ', 200],
    ['a line', 'Checking the next file\n', 200],
    ['equal rows of a table without a tool', '| host-1 | up | 12 ms |\n', 200],
    ['a period of 255 characters', unitOf(255), 200],
    ['a period of 256 characters', unitOf(256), 200],
  ])('%s', (_, unit, times) => {
    for (const before of ['', prose]) {
      const found = watched(before + unit.repeat(times), { cut: 1 })
      expect(found).toMatchObject({ times })
      expect(found?.at).toBe(before.length + unit.length * times)
      expect([...(found?.unit ?? '')].sort()).toEqual([...unit].sort())
      expect(watched(before + unit.repeat(times - 1) + prose)).toBeUndefined()
    }
  })

  it.each([
    ['one emoji', '😂', 1024],
    ['a script without blanks', '我来看看文件。', 200],
  ])('%s, at most a step later', (_, unit, times) => {
    for (const before of ['', prose]) {
      const found = watched(before + unit.repeat(10_000), { cut: 1 })
      expect(found?.at).toBeGreaterThanOrEqual(before.length + unit.length * times)
      expect(found?.at).toBeLessThanOrEqual(before.length + unit.length * times + 3072)
    }
  })

  it('a word that it would repeat 14,645 times, and is stopped before 5 % of that', () => {
    const unit = 'actually '
    const found = watched(`Let me think. ${unit.repeat(14_645)}`, { cut: 5 })
    expect(found?.times).toBeLessThan(14_645 * 0.05)
  })

  it('repeats after a fence, and after repeats that ended', () => {
    const row = 'the same again, '.repeat(260)
    expect(watched(`\`\`\`\n${'x = 1\n'.repeat(900)}\`\`\`\n${row}`)?.unit).toHaveLength(16)
    expect(watched(`${'abc '.repeat(900)}${prose}${row}`)?.unit).toHaveLength(16)
  })

  it('more repeats than a tool returned', () => {
    const row = 'ok ok ok 1\n'
    expect(watched(row.repeat(900), { known: [`Log:\n${row.repeat(500)}end`] })?.times).toBe(873)
  })
})

describe('a response does not degenerate with', () => {
  const python = 'for row in table:\n    print(row)\n'
  it.each<[string, string]>([
    ['prose', prose.repeat(3)],
    ['a period of 257 characters', unitOf(257).repeat(400)],
    ['199 repeats of a long unit', ascii(120).repeat(199) + prose],
    ['200 repeats of less than 4 KiB', `${'ha '.repeat(200)}${prose}`],
    ['code in a fence', `Here:\n\`\`\`python\n${python.repeat(400)}\`\`\`\nDone.`],
    ['code in a fence of tildes', `Here:\n~~~\n${python.repeat(400)}~~~\nDone.`],
    ['code in a quoted fence', `> \`\`\`\n${`> ${python}`.repeat(400)}> \`\`\`\n`],
    ['a fence with another mark inside', `\`\`\`\n${`~~~\n${python}`.repeat(400)}\`\`\`\n`],
    ['a fence that does not end', `\`\`\`\n${python.repeat(400)}`],
    [
      'a list of similar lines',
      Array.from({ length: 900 }, (_, n) => `Host ${n} is up and healthy.`).join('\n'),
    ],
    ['a counter', Array.from({ length: 3000 }, (_, n) => `${n}`).join('\n')],
  ])('%s', (_, text) => {
    for (const cut of [1, 5, 1000, text.length]) expect(watched(text, { cut })).toBeUndefined()
  })

  it.each<[string, string, string]>([
    ['the rows', '| a | ok |\n', '| a | ok |\n'],
    ['the rows, which JSON wrote', '| a | ok |\n', '| a | ok |\\n'],
    ['the zeros', '0', '0'],
  ])('%s that a tool returned in this turn', (_, unit, returned) => {
    const known = ['another result', `{"text":"${returned.repeat(5000)}"}`]
    expect(watched(`Here they are:\n${unit.repeat(5000)}`, { known })).toBeUndefined()
    expect(watched(`Here they are:\n${unit.repeat(5000)}`)).toBeDefined()
  })
})

it('the verdict does not depend on the cuts of the stream', () => {
  const piece = fc.oneof(
    fc.constantFrom('a', 'ab ', 'word ', '```\n', '~~~\n', '`', '\n', '😂', unitOf(256), prose),
    fc.string({ maxLength: 20 }),
  )
  const text = fc
    .array(fc.tuple(piece, fc.constantFrom(1, 3, 250, 1400)), { maxLength: 6 })
    .map((rows) =>
      rows
        .map(([unit, times]) => unit.repeat(times))
        .join('')
        .slice(0, 60_000),
    )
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 3000 }), (whole, cut) => {
      const found = watched(whole, { cut })
      const once = watched(whole, { cut: whole.length || 1 })
      expect(found && [found.unit, found.times]).toEqual(once && [once.unit, once.times])
    }),
    { numRuns: 150 },
  )
})

it('agrees with a plain search for the rule', () => {
  const text = fc
    .array(
      fc.tuple(
        fc.string({ minLength: 1, maxLength: 40 }).map((unit) => unit.replaceAll(/[`~]/g, '-')),
        fc.integer({ min: 1, max: 500 }),
      ),
      { maxLength: 4 },
    )
    .map((rows) => rows.map(([unit, times]) => unit.repeat(times)).join(''))
  fc.assert(
    fc.property(text, (whole) => expect(watched(whole) !== undefined).toBe(isDegenerate(whole))),
    { numRuns: 150 },
  )
})

/** The rule, word for word, in quadratic time. */
function isDegenerate(text: string): boolean {
  for (let period = 1; period <= 256; period += 1) {
    let length = period
    for (let at = period; at < text.length; at += 1) {
      length = text[at] === text[at - period] ? length + 1 : period
      if (length < 200 * period) continue
      const unit = text.slice(at - period + 1, at + 1)
      if ((Buffer.byteLength(unit) / period) * length >= 4096) return true
    }
  }
  return false
}

it('the reminder follows the text of the round, and quotes nothing', () => {
  const reminder =
    'Your last response was stopped because it repeated the same text without end. ' +
    'Do not repeat yourself, and answer briefly.'
  expect(withReminder(null)).toBe(reminder)
  expect(withReminder('STOP')).toBe(`STOP\n\n${reminder}`)
})
