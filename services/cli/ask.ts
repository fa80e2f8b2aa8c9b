// `weir ask`: one message, what becomes of it on standard error, and the reply on standard output.
// Exit codes: 0 the model's reply, 3 the agent's fallback. Trouble and bad usage are thrown.

import { systemClock } from '../../shared/clock.ts'
import type { TurnFinished } from '../../shared/messages.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Turn } from '../edge/turn.ts'
import { createAsker } from './approvals/asker.ts'
import { cancellable } from './interrupts.ts'
import { readMessageText } from './message-text.ts'
import type { GuardFiles } from './open-agent.ts'
import { areOneTerminal, showTurn } from './show-turn.ts'
import { noticingSilence } from './silence.ts'
import type { Streams } from './streams.ts'
import { processStreams } from './streams.ts'
import { createScreen } from './terminal/live-screen.ts'
import { printableJson } from './terminal/printable.ts'

/** `agent`: the path of its file. */
export type AskOptions = GuardFiles & { agent: string; conversation?: string; json?: true }

/** `text`: undefined or `-` for standard input. Resolves to the exit code. */
export async function ask(
  text: string | undefined,
  options: AskOptions,
  settings: Settings,
  { input, out, errors }: Streams = processStreams(),
): Promise<0 | 3> {
  const { conversation, json = false } = options
  const message = await readMessageText(text, input)
  const screen = createScreen(errors, process.env)
  const { openAgent, tellGuardsLeft } = await import('./open-agent.ts') // the stages take a while to load, and a bad message needs none
  const { weir, name } = await openAgent(options.agent, settings, screen, options)
  try {
    const asked = weir.ask({ agent: name, text: message, ...(conversation !== undefined && { conversation }) })
    const turn = noticingSilence(asked, settings, screen)
    if (conversation === undefined && !json) screen.print(`to go on: --conversation ${turn.conversation}`)
    const { outcome } = await cancellable({ turn, screen, readers: [out, errors] }, async () => {
      const isOneTerminal = areOneTerminal(out, errors)
      const asker = createAsker(weir, screen, { input, errors })
      const finished = json ? await writeEvents(turn, out) : await showTurn({ turn, screen, clock: systemClock, out, isOneTerminal, asker })
      await weir.close()
      await tellGuardsLeft(options, settings, screen)
      return finished
    })
    return outcome === 'answered' ? 0 : 3
  } catch (error) {
    await weir.close().catch(() => {}) // what came first tells more
    throw error
  }
}

/** One JSON object a line; the last one is the turn-finished. */
async function writeEvents(turn: Turn, out: NodeJS.WriteStream): Promise<TurnFinished> {
  for await (const event of turn) out.write(`${printableJson(event)}\n`)
  return turn.finished
}
