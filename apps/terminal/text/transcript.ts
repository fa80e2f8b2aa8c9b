// Turns the events of a turn into lines for a terminal. Pure.
// A tool is shown as running only from tool-started to call-finished.
// A screen gets whole lines, and the unfinished one live. Another terminal
// gets text as it arrives, a file or pipe at its end, without the reply: see standard output.
// Text stands at the margin and events are indented: they differ even
// without colours.

import type { TurnEventBody } from '../../../client/turn/turn-event.ts'
import { questionIn } from '../../../shared/contract/call/input-question.ts'
import { callInTurn } from '../../../shared/contract/ids.ts'
import { unreachable } from '../../../shared/contract/stage.ts'
import { reasons } from '../../../shared/contract/turn/turn-texts.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { Tone } from '../paint.ts'
import {
  approvalDecidedText,
  approvalPendingTexts,
  budgetReachedText,
  callDeniedText,
  callFinishedText,
  callsWaitingTexts,
  endingText,
  guardVerdictText,
  interventionText,
  modelRetryText,
  modelWaitingText,
  roundStartedText,
  totalsText,
} from './activity-texts.ts'
import { argumentLines } from './argument-lines.ts'
import { printable } from './printable.ts'
import { durationText } from './quantities.ts'
import { questionLines } from './question-lines.ts'
import { cutToColumns, flow, wrapped } from './word-wrap.ts'

/** `isOpen`: the next line continues this one. */
export type Line = { text: string; tone: Tone; isOpen?: true }

export type Transcript = {
  doing:
    | 'sending'
    | 'waiting'
    | 'asking'
    | 'thinking'
    | 'writing'
    | 'guarded'
    | 'allowed'
    | 'nothing'
  since: Milliseconds
  /** By round and ordinal. */
  running: ReadonlyMap<string, { name: string; since: Milliseconds }>
  /** The text of the newest round as it was streamed. */
  streamedText: string
  /** The unfinished line, not printed yet; in a file or pipe the whole text of the round. */
  rest: string
  /** The last character, if it may be half of something. */
  held: string
  /** The last printed line is an open one. */
  isOpen: boolean
}

/**
 * `columns`: the width of a line. `isLive`: there is a live line. A screen provides both. Without
 * a screen, lines have no limit. `isTerminal`: a person reads along.
 */
export type Layout = { columns: number; isLive: boolean; isTerminal: boolean }

export function beginTranscript(now: Milliseconds): Transcript {
  return {
    doing: 'sending',
    since: now,
    running: new Map(),
    streamedText: '',
    rest: '',
    held: '',
    isOpen: false,
  }
}

/** `now`: the time of the event, on the clock that the live line uses too. */
export function transcribe(
  before: Transcript,
  event: TurnEventBody,
  layout: Layout,
  now: Milliseconds,
): { transcript: Transcript; lines: Line[] } {
  if (event.type === 'text-delta')
    return layout.isTerminal
      ? appendText(before, event.text, layout, now)
      : {
          transcript: { ...writing(before, event.text, now), rest: before.rest + event.text },
          lines: [],
        }
  if (event.type === 'reasoning-delta')
    return { transcript: doing(before, 'thinking', now), lines: [] }
  if (event.type === 'model-answered') return { transcript: before, lines: [] } // its text is there
  const { transcript, lines } = layout.isTerminal ? endText(before) : endPipedText(before, event)
  const applied = applyEvent(transcript, event, layout, now)
  return { transcript: applied.transcript, lines: [...lines, ...applied.lines] }
}

/** The current activity on one line. Undefined: it is not known for certain. */
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
    case 'allowed':
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

function applyEvent(
  transcript: Transcript,
  event: NonTextEvent,
  layout: Layout,
  now: Milliseconds,
): { transcript: Transcript; lines: Line[] } {
  const linesOf = (text: string | undefined, tone: Tone): Line[] =>
    text === undefined ? [] : indented(text, tone, layout)
  switch (event.type) {
    case 'turn-waiting':
      return {
        transcript: doing(transcript, 'waiting', now),
        lines: linesOf('an earlier turn of this conversation is still running', 'faint'),
      }
    case 'turn-started':
      return { transcript: doing(transcript, 'nothing', now), lines: [] }
    case 'round-started':
      return {
        transcript: { ...doing(transcript, 'asking', now), streamedText: '' },
        lines: linesOf(roundStartedText(event), 'warning'),
      }
    case 'text-reset':
      return {
        transcript: { ...doing(transcript, 'asking', now), streamedText: '' },
        lines: linesOf(
          'this response broke off and is void: another request to the model',
          'warning',
        ),
      }
    case 'model-retry':
      return {
        transcript: doing(transcript, 'asking', now),
        lines: linesOf(modelRetryText(event), 'warning'),
      }
    case 'model-waiting':
      return { transcript, lines: linesOf(modelWaitingText(event), 'faint') }
    case 'call-denied':
      return { transcript, lines: linesOf(callDeniedText(event), 'warning') }
    case 'intervention-raised':
      // A rule in shadow has no effect on the turn. weir inspect shows its interventions.
      return {
        transcript,
        lines: event.shadow ? [] : linesOf(`intervention: ${interventionText(event)}`, 'warning'),
      }
    case 'calls-waiting':
      return {
        transcript: doing(transcript, 'guarded', now),
        lines: callsWaitingTexts(event).flatMap((text) => linesOf(text, 'faint')),
      }
    case 'guard-verdict-given':
      return { transcript, lines: linesOf(guardVerdictText(event), 'warning') }
    case 'approval-pending': {
      const lines = event.calls.flatMap((call) => {
        const { before, after } = approvalPendingTexts(call)
        const question = call.question === null ? undefined : questionIn(call.question)
        const exact = [
          ...argumentLines(call.rawArguments, layout.columns),
          ...(question === undefined ? [] : questionLines(question, layout.columns)),
        ].map((text): Line => ({ text, tone: 'warning' }))
        return [...linesOf(before, 'warning'), ...exact, ...linesOf(after, 'warning')]
      })
      return { transcript: doing(transcript, 'allowed', now), lines }
    }
    case 'budget-reached':
      return { transcript, lines: linesOf(budgetReachedText(event), 'warning') }
    case 'approval-decided':
      return {
        transcript,
        lines: linesOf(approvalDecidedText(event), event.outcome === 'allow' ? 'faint' : 'warning'),
      }
    case 'tool-started': {
      const name = printable(event.name)
      const running = new Map(transcript.running).set(callInTurn(event), {
        name,
        since: now,
      })
      return {
        transcript: { ...transcript, running },
        lines: layout.isLive ? [] : linesOf(`${name} started`, 'faint'),
      }
    }
    case 'call-offered':
      return {
        transcript: doing(transcript, 'nothing', now),
        lines: linesOf(`${printable(event.name)} waits for the result of its client`, 'warning'),
      }
    case 'call-finished': {
      const running = new Map(transcript.running)
      running.delete(callInTurn(event))
      return {
        transcript: { ...doing(transcript, 'nothing', now), running },
        lines: linesOf(callFinishedText(event), toneOf(event.status)),
      }
    }
    case 'turn-finished': {
      const { outcome, reason } = event
      const ending =
        outcome === 'answered'
          ? linesOf(reason === reasons.answered ? undefined : printable(reason), 'warning')
          : linesOf(endingText(event), 'bad')
      return {
        transcript: { ...doing(transcript, 'nothing', now), running: new Map() },
        lines: [...ending, ...linesOf(totalsText(event), 'faint')],
      }
    }
    default:
      return unreachable(event)
  }
}

type NonTextEvent = Exclude<
  TurnEventBody,
  { type: 'text-delta' | 'reasoning-delta' | 'model-answered' }
>

function toneOf(status: Extract<TurnEventBody, { type: 'call-finished' }>['status']): Tone {
  switch (status) {
    case 'ok':
    case 'skipped':
      return 'faint'
    case 'denied':
      return 'warning'
    default:
      return 'bad'
  }
}

function doing(
  transcript: Transcript,
  activity: Transcript['doing'],
  now: Milliseconds,
): Transcript {
  return transcript.doing === activity ? transcript : { ...transcript, doing: activity, since: now }
}

/** Indented lines. The continuation of a line is indented further. */
function indented(text: string, tone: Tone, { columns }: Layout): Line[] {
  return wrapped(`  ${text}`, columns, '    ').map((line) => ({ text: line, tone }))
}

function writing(before: Transcript, delta: string, now: Milliseconds): Transcript {
  return { ...doing(before, 'writing', now), streamedText: before.streamedText + delta }
}

function appendText(
  before: Transcript,
  delta: string,
  layout: Layout,
  now: Milliseconds,
): { transcript: Transcript; lines: Line[] } {
  const { text, held } = withoutHalves(before.held + delta)
  const transcript = { ...writing(before, delta, now), held }
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

/** Ends the current line of text. */
function endText(before: Transcript): { transcript: Transcript; lines: Line[] } {
  const lines: Line[] =
    before.rest !== '' || before.isOpen ? [{ text: before.rest, tone: 'plain' }] : []
  return { transcript: { ...before, rest: '', held: '', isOpen: false }, lines }
}

/** As endText. Void text and the reply are left out. */
function endPipedText(
  before: Transcript,
  event: NonTextEvent,
): { transcript: Transcript; lines: Line[] } {
  const isReply = event.type === 'turn-finished' && before.rest.trim() === event.reply.trim()
  const isShown = before.rest !== '' && !isReply && event.type !== 'text-reset'
  const lines = isShown ? printablePieces(before.rest.replace(/\r?\n$/, '')) : []
  return {
    transcript: { ...before, rest: '' },
    lines: lines.map((text) => ({ text, tone: 'plain' })),
  }
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

/** The texts between line ends. */
function printablePieces(text: string): string[] {
  return text.split(/\r\n|\n/).map((piece) => printable(piece.replaceAll('\t', '  ')))
}

/**
 * Holds back a carriage return, which may be half of a line end, and a joiner, which may be half
 * of an emoji. They are shown together with the next text.
 */
function withoutHalves(text: string): { text: string; held: string } {
  const held = /[\r\u{200d}]$/u.exec(text)?.[0] ?? ''
  return { text: text.slice(0, text.length - held.length), held }
}
