// Shows a turn on the screen: events as lines, a live line, and the reply.

import { fstatSync } from 'node:fs'
import type { Turn } from '../../client/turn/turn.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import type { Clock } from '../../shared/lib/clock.ts'
import type { Asker } from '../service/approvals/asker.ts'
import type { Screen } from '../terminal/live-screen.ts'
import { printableLines, withoutControls } from '../terminal/text/printable.ts'
import { beginTranscript, liveLine, transcribe } from '../terminal/text/transcript.ts'
import { wrapped } from '../terminal/text/word-wrap.ts'

export type ShowOptions = {
  turn: Turn
  screen: Screen
  clock: Clock
  out: NodeJS.WriteStream
  isOneTerminal: boolean
  asker?: Asker | undefined
  /** Writes the reply's own bytes, if `out` is no terminal. */
  raw?: boolean | undefined
}

const refreshMs = 500

/**
 * Resolves at the end of the turn. Writes the reply to `out` without control characters. If screen and `out` are one terminal, a streamed reply is already there and
 * is not written again. `asker` asks the person about calls that wait for an approval.
 */
export async function showTurn({
  turn,
  screen,
  clock,
  out,
  isOneTerminal,
  asker,
  raw = false,
}: ShowOptions): Promise<TurnFinished> {
  let transcript = beginTranscript(clock.monotonic())
  let cancelRefresh = (): void => {}

  function draw(): void {
    if (asker?.isAsking !== true)
      screen.live(liveLine(transcript, screen.layout().columns, clock.monotonic()))
  }

  function refresh(): void {
    draw()
    cancelRefresh = clock.after(refreshMs, refresh)
  }

  refresh()
  try {
    for await (const event of turn) {
      const shown = transcribe(transcript, event, screen.layout(), clock.monotonic())
      transcript = shown.transcript
      asker?.stopFor(event)
      screen.show(shown.lines)
      asker?.askFor(event)
      draw()
    }
  } finally {
    cancelRefresh()
    asker?.close()
    screen.live(undefined)
  }
  const finished = await turn.finished
  if (!(isOneTerminal && transcript.streamedText.trim() === finished.reply.trim()))
    out.write(`${shownReply(finished.reply, { out, screen, raw })}\n`)
  return finished
}

function shownReply(
  reply: string,
  { out, screen, raw }: { out: NodeJS.WriteStream; screen: Screen; raw: boolean },
): string {
  if (out.isTTY !== true) return raw ? reply : withoutControls(reply)
  const { columns } = screen.layout()
  return printableLines(reply)
    .flatMap((line) => wrapped(line, columns))
    .join('\n')
}

/** Whether both streams write to the same terminal. */
export function areOneTerminal(
  a: NodeJS.WriteStream & { fd?: number },
  b: NodeJS.WriteStream & { fd?: number },
): boolean {
  if (a.isTTY !== true || b.isTTY !== true || a.fd === undefined || b.fd === undefined) return false
  return fstatSync(a.fd).rdev === fstatSync(b.fd).rdev
}
