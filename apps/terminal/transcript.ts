// A turn on a terminal: events in, lines out. Pure.
// TERMINAL-TRANSCRIPT-1. Only what really runs is shown as running: from tool-started to
//     call-finished.
// TERMINAL-TRANSCRIPT-2. On a screen text comes in whole lines, and the line that is not full is
//     the live one; elsewhere it is passed on as it comes.
// TERMINAL-TRANSCRIPT-3. Text stands at the margin, what happens is indented: so they can be told
//     apart without colours.

import type { TurnEvent } from '../../client/turn-events.ts'
import { reasons } from '../../services/conversation/texts.ts'
import { callInTurn } from '../../shared/contract/ids.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import {
  approvalDecidedText,
  approvalPendingTexts,
  callFinishedText,
  callRejectedText,
  callsWaitingTexts,
  endingText,
  guardVerdictText,
  interventionText,
  roundStartedText,
  totalsText,
} from './activity-texts.ts'
import { argumentLines } from './argument-lines.ts'
import type { Tone } from './paint.ts'
import { printable } from './printable.ts'
import { durationText } from './quantities.ts'
import { cutToColumns, flow, wrapped } from './word-wrap.ts'

/** `isOpen`: what comes next goes on in it. */
export type Line = { text: string; tone: Tone; isOpen?: true }

export type Transcript = {
  doing:
    | 'sending'
    | 'waiting'
    | 'asking'
    | 'thinking'
    | 'writing'
    | 'guarded'
    | 'approved'
    | 'nothing'
  since: Milliseconds
  /** By round and ordinal. */
  running: ReadonlyMap<string, { name: string; since: Milliseconds }>
  /** The text of the newest round as it was streamed. */
  said: string
  /**
   * What of it is not shown yet: the beginning of a line, and an end that may be half of something.
   */
  rest: string
  held: string
  /** The last line that was shown is an open one. */
  isOpen: boolean
}

/**
 * `columns`: of a line; `isLive`: whether there is a live line. Both from a screen; without one,
 * lines are as long as they are.
 */
export type Layout = { columns: number; isLive: boolean }

export function beginTranscript(now: Milliseconds): Transcript {
  return {
    doing: 'sending',
    since: now,
    running: new Map(),
    said: '',
    rest: '',
    held: '',
    isOpen: false,
  }
}

/** `now`: when it was heard, on any clock that the live line uses too. */
export function transcribe(
  before: Transcript,
  event: TurnEvent,
  layout: Layout,
  now: Milliseconds,
): { transcript: Transcript; lines: Line[] } {
  if (event.type === 'text-delta') return speak(before, event.text, layout, now)
  if (event.type === 'reasoning-delta')
    return { transcript: doing(before, 'thinking', now), lines: [] }
  const { transcript, lines } = endText(before)
  const happened = happen(transcript, event, layout, now)
  return { transcript: happened.transcript, lines: [...lines, ...happened.lines] }
}

/** What goes on at this moment, on one line; undefined: nothing that could be said for certain. */
export function liveLine(
  { doing, since, running, rest }: Transcript,
  columns: number,
  now: Milliseconds,
): Line | undefined {
  if (rest !== '') return { text: rest, tone: 'plain' }
  const text = runningText(running, now) ?? doingText(doing, now - since)
  return text === undefined
    ? undefined
    : { text: cutToColumns(`  ${text}`, columns), tone: 'faint' }
}

function runningText(running: Transcript['running'], now: Milliseconds): string | undefined {
  const calls = [...running.values()]
  if (calls.length === 0) return undefined
  const names = [...new Set(calls.map(({ name }) => name))].join(', ')
  return `${names} running, ${durationText(now - Math.min(...calls.map(({ since }) => since)))}`
}

function doingText(doing: Transcript['doing'], ms: Milliseconds): string | undefined {
  switch (doing) {
    case 'asking':
      return `waiting for the model, ${durationText(ms)}`
    case 'thinking':
      return `the model is thinking, ${durationText(ms)}`
    case 'writing':
      return `the model is writing, ${durationText(ms)}`
    case 'guarded':
      return `waiting for guards, ${durationText(ms)}`
    case 'approved':
      return `waiting for a person's approval, ${durationText(ms)}`
    case 'waiting':
      return `waiting for an earlier turn of this conversation, ${durationText(ms)}`
    case 'sending':
    case 'nothing':
      return undefined
    default:
      return unreachable(doing)
  }
}

function happen(
  transcript: Transcript,
  event: Happening,
  layout: Layout,
  now: Milliseconds,
): { transcript: Transcript; lines: Line[] } {
  const say = (text: string | undefined, tone: Tone): Line[] =>
    text === undefined ? [] : told(text, tone, layout)
  switch (event.type) {
    case 'turn-waiting':
      return {
        transcript: doing(transcript, 'waiting', now),
        lines: say('an earlier turn of this conversation is not over yet', 'faint'),
      }
    case 'turn-started':
      return { transcript: doing(transcript, 'nothing', now), lines: [] }
    case 'round-started':
      return {
        transcript: { ...doing(transcript, 'asking', now), said: '' },
        lines: say(roundStartedText(event), 'warning'),
      }
    case 'text-reset':
      return {
        transcript: { ...doing(transcript, 'asking', now), said: '' },
        lines: say(
          'this answer broke off, and what it said is void: the model is asked again',
          'warning',
        ),
      }
    case 'call-rejected':
      return { transcript, lines: say(callRejectedText(event), 'warning') }
    case 'intervention-raised':
      // Of a rule in shadow nothing follows: whoever tries the rule finds its word in weir inspect.
      return {
        transcript,
        lines: event.shadow ? [] : say(`intervention: ${interventionText(event)}`, 'warning'),
      }
    case 'calls-waiting':
      return {
        transcript: doing(transcript, 'guarded', now),
        lines: callsWaitingTexts(event).flatMap((text) => say(text, 'faint')),
      }
    case 'guard-verdict-given':
      return { transcript, lines: say(guardVerdictText(event), 'warning') }
    case 'approval-pending': {
      const lines = event.calls.flatMap((call) => {
        const { before, after } = approvalPendingTexts(call)
        const exact = argumentLines(call.arguments, layout.columns).map(
          (text): Line => ({ text, tone: 'warning' }),
        )
        return [...say(before, 'warning'), ...exact, ...say(after, 'warning')]
      })
      return { transcript: doing(transcript, 'approved', now), lines }
    }
    case 'approval-decided':
      return {
        transcript,
        lines: say(approvalDecidedText(event), event.outcome === 'approved' ? 'faint' : 'warning'),
      }
    case 'tool-started': {
      const name = printable(event.name)
      const running = new Map(transcript.running).set(callInTurn(event), {
        name,
        since: now,
      })
      return {
        transcript: { ...transcript, running },
        lines: layout.isLive ? [] : say(`${name} started`, 'faint'),
      }
    }
    case 'call-finished': {
      const running = new Map(transcript.running)
      running.delete(callInTurn(event))
      return {
        transcript: { ...doing(transcript, 'nothing', now), running },
        lines: say(callFinishedText(event), toneOf(event.status)),
      }
    }
    case 'turn-finished': {
      const { outcome, reason } = event
      const ending =
        outcome === 'answered'
          ? say(reason === reasons.answered ? undefined : printable(reason), 'warning')
          : say(endingText(event), 'bad')
      return {
        transcript: { ...doing(transcript, 'nothing', now), running: new Map() },
        lines: [...ending, ...say(totalsText(event), 'faint')],
      }
    }
    default:
      return unreachable(event)
  }
}

type Happening = Exclude<TurnEvent, { type: 'text-delta' | 'reasoning-delta' }>

function toneOf(status: Extract<TurnEvent, { type: 'call-finished' }>['status']): Tone {
  switch (status) {
    case 'ok':
    case 'skipped':
      return 'faint'
    case 'rejected':
    case 'vetoed':
      return 'warning'
    default:
      return 'bad'
  }
}

function doing(transcript: Transcript, what: Transcript['doing'], now: Milliseconds): Transcript {
  return transcript.doing === what ? transcript : { ...transcript, doing: what, since: now }
}

/** Indented, and what does not fit into a line more than that. */
function told(text: string, tone: Tone, { columns }: Layout): Line[] {
  return wrapped(`  ${text}`, columns, '    ').map((line) => ({ text: line, tone }))
}

function speak(
  before: Transcript,
  delta: string,
  layout: Layout,
  now: Milliseconds,
): { transcript: Transcript; lines: Line[] } {
  const { text, held } = withoutHalves(before.held + delta)
  const transcript = { ...doing(before, 'writing', now), said: before.said + delta, held }
  if (layout.isLive) {
    const { lines, rest } = fill(before.rest, text, layout.columns)
    return {
      transcript: { ...transcript, rest },
      lines: lines.map((line) => ({ text: line, tone: 'plain' })),
    }
  }
  const pieces = printablePieces(text)
  const lines = pieces.map(
    (piece, i): Line => ({
      text: piece,
      tone: 'plain',
      ...(i === pieces.length - 1 && { isOpen: true as const }),
    }),
  )
  return {
    transcript: {
      ...transcript,
      isOpen: pieces.at(-1) !== '' || (before.isOpen && pieces.length === 1),
    },
    lines,
  }
}

/** Ends the line that the text is in. */
function endText(before: Transcript): { transcript: Transcript; lines: Line[] } {
  const lines: Line[] =
    before.rest !== '' || before.isOpen ? [{ text: before.rest, tone: 'plain' }] : []
  return { transcript: { ...before, rest: '', held: '', isOpen: false }, lines }
}

function fill(rest: string, text: string, columns: number): { lines: string[]; rest: string } {
  const lines: string[] = []
  let left = rest
  for (const [i, piece] of printablePieces(rest + text).entries()) {
    if (i > 0) lines.push(left)
    const flowed = flow('', piece, columns)
    lines.push(...flowed.lines)
    left = flowed.rest
  }
  return { lines, rest: left }
}

/** What stands between line ends. */
function printablePieces(text: string): string[] {
  return text.split(/\r\n|\n/).map((piece) => printable(piece.replaceAll('\t', '  ')))
}

/**
 * A carriage return may be half of a line end, and a joiner half of an emoji: they are shown with
 * what follows.
 */
function withoutHalves(text: string): { text: string; held: string } {
  const held = /[\r\u{200d}]$/u.exec(text)?.[0] ?? ''
  return { text: text.slice(0, text.length - held.length), held }
}
