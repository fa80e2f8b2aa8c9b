import { describe, expect, it } from '@jest/globals'
import {
  beginTranscript,
  type Layout,
  type Line,
  liveLine,
  type Transcript,
  transcribe,
} from '../../../../apps/terminal/text/transcript.ts'
import type { Activity } from '../../../../client/edge/edge.ts'
import type { TurnEventBody } from '../../../../client/turn/turn-event.ts'
import {
  callDenied,
  callFinished,
  interventionRaised,
  roundStarted,
  toolStarted,
  turnFinished,
  turnStarted,
} from '../../../support/activity.ts'

const screen: Layout = { columns: 79, isLive: true, isTerminal: true }
const pipe: Layout = { columns: Number.POSITIVE_INFINITY, isLive: false, isTerminal: false }
const plain: Layout = { ...pipe, isTerminal: true }

const place = { conversation: 'c', turn: 7, round: 1 }
const text = (piece: string): TurnEventBody => ({ type: 'text-delta', ...place, text: piece })
const reasoning: TurnEventBody = { type: 'reasoning-delta', ...place, text: 'hm' }
const reset: TurnEventBody = { type: 'text-reset', ...place }

/** Events, a second apart. */
function play(
  events: (TurnEventBody | Activity)[],
  layout: Layout,
): { transcript: Transcript; lines: Line[]; now: number } {
  let transcript = beginTranscript(0)
  const lines: Line[] = []
  let now = 0
  for (const event of events) {
    now += 1_000
    const shown = transcribe(transcript, event as TurnEventBody, layout, now)
    transcript = shown.transcript
    lines.push(...shown.lines)
  }
  return { transcript, lines, now }
}

const linesOf = (events: (TurnEventBody | Activity)[], layout = screen) =>
  play(events, layout).lines.map(({ text }) => text)

/** The output without a live line, byte for byte. */
const piped = (events: (TurnEventBody | Activity)[], layout = pipe) =>
  play(events, layout)
    .lines.map(({ text, isOpen }) => `${text}${isOpen ? '' : '\n'}`)
    .join('')

function live(events: (TurnEventBody | Activity)[], laterMs = 0): string | undefined {
  const { transcript, now } = play(events, screen)
  return liveLine(transcript, screen.columns, now + laterMs)?.text
}

describe('the events of a turn', () => {
  it('are shown line by line', () => {
    const events = [
      ...[
        turnStarted(),
        roundStarted(),
        text('I will look.\n'),
        toolStarted(),
        callFinished(),
        roundStarted(2),
        text('Done.'),
        turnFinished(),
      ],
    ]
    expect(linesOf(events)).toEqual([
      'I will look.',
      '  exec ok, 0.3 s',
      'Done.',
      '  2 rounds, 1 call, 120 + 30 tokens, 3.2 s',
    ])
  })

  it('include the reason of a denied call', () => {
    expect(play([callDenied("missing required field 'command'")], screen).lines).toEqual([
      {
        text: "  exec denied before execution: missing required field 'command'",
        tone: 'warning',
      },
    ])
  })

  it.each([
    [
      'denied',
      'no deletions on Sundays',
      '  exec denied before execution: no deletions on Sundays',
      'warning',
    ],
    [
      'denied',
      'no tool with this declaration',
      '  exec denied before execution: no tool with this declaration',
      'warning',
    ],
    ['error', 'no such file', '  exec failed after 0.3 s: no such file', 'bad'],
    [
      'timed_out',
      'no result within 300 ms',
      '  exec timed out after 0.3 s: no result within 300 ms',
      'bad',
    ],
    [
      'skipped',
      'the turn was cancelled',
      '  exec skipped, it did not run: the turn was cancelled',
      'faint',
    ],
    [
      'unknown',
      'no result in time',
      '  exec may have run, its outcome is unknown: no result in time',
      'bad',
    ],
  ] as const)('says of a call that is %s why', (status, reason, line, tone) => {
    expect(play([callFinished(0, { status, reason })], screen).lines).toEqual([
      { text: line, tone },
    ])
  })

  it('include an intervention and the request that shows it to the model', () => {
    const events = [
      interventionRaised('cycle', 'of a rule in shadow', true),
      interventionRaised('identical-failure', 'exec({}) failed in 3 rounds'),
      roundStarted(4, { nudged: true }),
    ]
    expect(linesOf(events)).toEqual([
      '  intervention: identical-failure: exec({}) failed in 3 rounds',
      '  the next request has the intervention as its newest system message',
    ])
  })

  it('include a round without tools', () => {
    expect(linesOf([roundStarted(5, { callsLeft: 0 })])).toEqual([
      '  the model gets one more request, without tools',
    ])
  })

  it.each([
    [
      { outcome: 'failed', class: 'no_progress', reason: 'a loop' },
      '  failed (no_progress): a loop',
    ],
    [{ outcome: 'capped', class: 'budget', reason: 'too long' }, '  capped (budget): too long'],
    [
      { outcome: 'cancelled', class: 'cancelled', reason: 'the client cancelled it' },
      '  cancelled: the client cancelled it',
    ],
    [
      { cap: 'rounds', reason: 'the model answered in its last response' },
      '  the model answered in its last response',
    ],
    [
      { reason: 'the model answered; its reply was cut' },
      '  the model answered; its reply was cut',
    ],
  ] as const)('says how the turn ended: %j', (fields, line) => {
    expect(linesOf([turnFinished(fields)])[0]).toBe(line)
  })

  it('are broken at 80 columns, with a deeper indent for the rest', () => {
    const lines = linesOf([callDenied('word '.repeat(30).trim())])
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(line.length).toBeLessThan(80)
    expect(lines[1]).toMatch(/^ {4}word/)
  })

  it('show control characters of names and reasons as visible text', () => {
    expect(linesOf([callDenied('\u001b[2Jgone\nexec ok', 'ex\u0007ec')])).toEqual([
      '  ex\\u{7}ec denied before execution: \\u{1b}[2Jgone\\nexec ok',
    ])
  })
})

describe('text on a screen', () => {
  it('comes in whole lines, with the unfinished line as the live one', () => {
    const events = [text('one\ntwo '), text('and three')]
    expect(linesOf(events)).toEqual(['one'])
    expect(live(events)).toBe('two and three')
  })

  it('is wrapped while it arrives', () => {
    const events = ['word '.repeat(10), 'word '.repeat(10)].map(text)
    expect(linesOf(events)).toEqual(['word '.repeat(16).trim()])
    expect(live(events)).toBe('word '.repeat(4))
  })

  it('ends before the next event', () => {
    expect(linesOf([text('half a li'), toolStarted()])).toEqual(['half a li'])
  })

  it('has no terminal codes, even if they arrive in pieces', () => {
    const { transcript, lines } = play([text('a\u001b'), text('[31mred\u009b2J\n')], screen)
    expect([...lines.map((line) => line.text), transcript.rest].join('')).toBe(
      'a\\u{1b}[31mred\\u{9b}2J',
    )
  })

  it('keeps line ends and emoji that arrive in two pieces', () => {
    expect(linesOf([text('one\r'), text('\ntwo\n')])).toEqual(['one', 'two'])
    expect(linesOf([text('👩\u200d'), text('🚀\n')])).toEqual(['👩\u200d🚀'])
  })

  it('is void after the response broke off', () => {
    const { transcript, lines } = play([text('half an ans'), reset, text('whole')], screen)
    expect(lines.map((line) => line.text)).toEqual([
      'half an ans',
      '  this response broke off and is void: another request to the model',
    ])
    expect(transcript.streamedText).toBe('whole')
  })

  it('is kept as streamed, one round at a time, to compare with the reply', () => {
    expect(
      play([text('first\u001b'), roundStarted(2), text('one'), text('\ttwo')], screen).transcript
        .streamedText,
    ).toBe('one\ttwo')
  })
})

it('a call that waits for a person is marked if the model wrote it as text', () => {
  const call = { ordinal: 0, name: 'rm', id: 'k', hash: 'h', rule: 'files' }
  const sent = { arguments: {}, rawArguments: '{}' }
  const calls = [{ ...call, ...sent, source: 'text' as const, program: null, question: null }]
  expect(linesOf([{ type: 'approval-pending', ...place, calls, until: 9_000 }])[0]).toBe(
    "  rm, which the model wrote as text, needs a person's approval (files):",
  )
})

it('a call that waits for a person has its exact arguments between the rule and the commands', () => {
  const call = {
    ordinal: 0,
    name: 'rm',
    arguments: null,
    rawArguments: `{"path":"${'x'.repeat(62)}  y"}`,
    id: 'k7f3-9qxm-2b4d',
    hash: 'h',
    rule: 'files',
    source: null,
    program: null,
    question: null,
  }
  expect(linesOf([{ type: 'approval-pending', ...place, calls: [call], until: 9_000 }])).toEqual([
    "  rm needs a person's approval (files):",
    `    {"path":"${'x'.repeat(62)}␣␣y"`,
    '  ↪ }',
    '  weir allow k7f3-9qxm-2b4d, or weir deny k7f3-9qxm-2b4d --reason "..."',
  ])
})

describe('text in a pipe', () => {
  it('arrives unchanged, with events on separate lines', () => {
    const events = [
      roundStarted(),
      text('one\ntw'),
      text('o'),
      toolStarted(),
      callFinished(),
      text('thr'),
      text('ee\n'),
      turnFinished(),
    ]
    expect(piped(events)).toBe(
      'one\ntwo\n  exec started\n  exec ok, 0.3 s\nthree\n  2 rounds, 1 call, 120 + 30 tokens, 3.2 s\n',
    )
  })

  it('is not wrapped, and arrives once its round goes on', () => {
    expect(piped([text('word '.repeat(50))])).toBe('')
    expect(piped([text('word '.repeat(50)), toolStarted()])).toBe(
      `${'word '.repeat(50)}\n  exec started\n`,
    )
  })

  it('leaves out the reply, which stands on the standard output', () => {
    const events = [text('All is'), text(' well.\n'), turnFinished({ reply: 'All is well.' })]
    expect(piped(events)).toBe('  2 rounds, 1 call, 120 + 30 tokens, 3.2 s\n')
  })

  it('leaves out the text of a response that broke off', () => {
    expect(piped([text('All is'), reset])).toBe(
      '  this response broke off and is void: another request to the model\n',
    )
  })

  it('arrives piece by piece at a terminal without a live line', () => {
    expect(piped([text('All is')], plain)).toBe('All is')
  })

  it('shows the start of a tool, because there is no live line', () => {
    expect(piped([toolStarted()])).toBe('  exec started\n')
  })
})

const retry = (waitMs = 1_000): TurnEventBody => ({
  type: 'model-retry',
  conversation: 'c',
  turn: 7,
  round: 1,
  waitMs,
  attempt: 'a',
  next: 2,
  reason: 'the provider answered 429',
})

describe('a failed attempt', () => {
  it.each([
    [1_000, 'in 1 s'],
    [1_500, 'in 1.5 s'],
    [120_000, 'in 2 min'],
    [7_500_000, 'in 2 h 5 min'],
    [0, 'at once'],
  ])('is shown with its reason and the wait of %i ms', (waitMs, text) => {
    expect(piped([roundStarted(), retry(waitMs)])).toBe(
      `  the provider answered 429, next attempt ${text}\n`,
    )
  })
})

describe('the live line', () => {
  it('is empty until something is known', () => expect(live([])).toBeUndefined())
  it('shows the wait for the model and its duration', () =>
    expect(live([roundStarted()], 2_500)).toBe('  waiting for the model, 2.5 s'))
  it('goes on during the wait for the next attempt', () =>
    expect(live([roundStarted(), retry()], 2_500)).toBe('  waiting for the model, 3.5 s'))
  it('shows minutes if there are any', () =>
    expect(live([roundStarted()], 185_000)).toBe('  waiting for the model, 3 min 5 s'))
  it('shows that the model thinks', () =>
    expect(live([roundStarted(), reasoning], 500)).toBe('  the model is thinking, 0.5 s'))
  it('shows that the model writes while no text is visible', () =>
    expect(live([text('one\n')])).toBe('  the model is writing, 0.0 s'))

  it('shows a tool from its start to its end', () => {
    expect(live([toolStarted()], 12_345)).toBe('  exec running, 12 s')
    expect(live([toolStarted(), callFinished()])).toBeUndefined()
    expect(live([toolStarted(0), toolStarted(1, { name: 'fetch' }), callFinished(0)])).toBe(
      '  fetch running, 1.0 s',
    )
  })

  it('shows parallel tools, each name once, with the longest time', () => {
    expect(live([toolStarted(0), toolStarted(1), toolStarted(2, { name: 'fetch' })])).toBe(
      '  exec, fetch running, 2.0 s',
    )
  })

  it('never shows a denied call as running', () => {
    expect(live([roundStarted(), callDenied('no')])).toBe('  waiting for the model, 1.0 s')
  })

  it('shows the wait for an earlier turn', () => {
    expect(live([{ type: 'turn-waiting', conversation: 'c' }])).toBe(
      '  waiting for an earlier turn of this conversation, 0.0 s',
    )
  })

  it('fits into one line', () => {
    expect(live([toolStarted(0, { name: 'x'.repeat(100) })])?.length).toBe(screen.columns)
  })

  it('is empty at the end', () => expect(live([toolStarted(), turnFinished()])).toBeUndefined())
})
