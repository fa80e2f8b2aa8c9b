// A turn on the screen: events as lines, the live line as time goes by, and the reply.

import { fstatSync } from 'node:fs'
import type { Turn } from '../../client/turn.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import type { Clock } from '../../shared/lib/clock.ts'
import type { Asker } from '../service/approvals/asker.ts'
import type { Screen } from '../terminal/live-screen.ts'
import { printableLines } from '../terminal/printable.ts'
import { beginTranscript, liveLine, transcribe } from '../terminal/transcript.ts'
import { wrapped } from '../terminal/word-wrap.ts'

export type ShowOptions = {
  turn: Turn
  screen: Screen
  clock: Clock
  out: NodeJS.WriteStream
  isOneTerminal: boolean
  asker?: Asker | undefined
}

const refreshMs = 500

/**
 * Resolves with the end of the turn. The reply goes to `out`: to a terminal without what a terminal
 * would obey, elsewhere as it is. Where screen and `out` are one terminal, a reply that was
 * streamed stands there already, and is not shown twice. `asker`: asks about calls that wait for a
 * person.
 */
export async function showTurn({
  turn,
  screen,
  clock,
  out,
  isOneTerminal,
  asker,
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
      const heard = transcribe(transcript, event, screen.layout(), clock.monotonic())
      transcript = heard.transcript
      asker?.stopFor(event)
      screen.show(heard.lines)
      asker?.askFor(event)
      draw()
    }
  } finally {
    cancelRefresh()
    asker?.close()
    screen.live(undefined)
  }
  const finished = await turn.finished
  if (!(isOneTerminal && transcript.said.trim() === finished.reply.trim()))
    out.write(`${shownReply(finished.reply, out, screen)}\n`)
  return finished
}

function shownReply(reply: string, out: NodeJS.WriteStream, screen: Screen): string {
  if (out.isTTY !== true) return reply
  const { columns } = screen.layout()
  return printableLines(reply)
    .flatMap((line) => wrapped(line, columns))
    .join('\n')
}

/** Whether what is written to both appears in one place. */
export function areOneTerminal(
  a: NodeJS.WriteStream & { fd?: number },
  b: NodeJS.WriteStream & { fd?: number },
): boolean {
  if (a.isTTY !== true || b.isTTY !== true || a.fd === undefined || b.fd === undefined) return false
  return fstatSync(a.fd).rdev === fstatSync(b.fd).rdev
}
