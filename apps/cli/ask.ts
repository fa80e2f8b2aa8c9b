// `weir ask`: sends one message, shows the turn on stderr and prints the reply on stdout.
// Exit codes: 0 the model's reply, 3 the agent's fallback. Throws on bad usage and on failures.
// After a signal, the process ends by that signal once the turn is cancelled and its fallback
// printed, so a loop of a shell ends too.

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { closedOnFailure } from '../../client/place/closed-on-failure.ts'
import type { Turn } from '../../client/turn/turn.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { usageError } from '../../shared/lib/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { createAsker } from '../service/approvals/asker.ts'
import { cancellable, endBySignal, type InterruptSignal } from '../terminal/interrupts.ts'
import { createScreen } from '../terminal/live-screen.ts'
import { withSilenceNotice } from '../terminal/silence.ts'
import { processStreams, type Streams } from '../terminal/streams.ts'
import { readMessageText } from '../terminal/text/message-text.ts'
import { printableJson } from '../terminal/text/printable.ts'
import type { AgentOptions } from './open-agent.ts'
import { areOneTerminal, showTurn } from './show-turn.ts'

/** `agent`: the path of its file. */
export type AskOptions = AgentOptions & {
  agent: string
  conversation?: string
  tenant?: string
  json?: true
  raw?: true
  /** Paths. */
  image?: string[]
  file?: string[]
}

/** `text`: undefined or `-` for standard input. Resolves to the exit code. */
export async function ask(
  text: string | undefined,
  options: AskOptions,
  settings: Settings,
  { input, out, errors }: Streams = processStreams(),
): Promise<0 | 3> {
  const { conversation, tenant, json = false, raw } = options
  const message = await readMessageText(text, input)
  const contents = {
    images: (options.image ?? []).map((path) => contentFile('--image', path)),
    files: (options.file ?? []).map((path) => ({
      name: basename(path),
      data: contentFile('--file', path),
    })),
  }
  const screen = createScreen(errors, process.env)
  // Loaded late: the stages take a while to load, and a bad message needs none.
  const { openAgent, warnOfActiveGuards } = await import('./open-agent.ts')
  const { weir, name } = await openAgent(options.agent, settings, screen, options)
  return closedOnFailure(weir, async () => {
    const sent = weir.ask({ agent: name, text: message, ...contents, conversation, tenant })
    const turn = withSilenceNotice(sent, settings, screen)
    if (conversation === undefined && !json)
      screen.print(`to continue: --conversation ${turn.conversation}`)
    let signalled: InterruptSignal | undefined
    const onSignal = (signal: InterruptSignal): void => {
      signalled = signal
    }
    const following = { turn, screen, readers: [out, errors], onSignal }
    const { outcome } = await cancellable(following, async () => {
      const isOneTerminal = areOneTerminal(out, errors)
      const asker = createAsker(weir, screen, { input, errors })
      const finished = json
        ? await writeEvents(turn, out)
        : await showTurn({ turn, screen, clock: systemClock, out, isOneTerminal, asker, raw })
      await weir.close()
      await warnOfActiveGuards(options, settings, screen)
      return finished
    })
    if (signalled !== undefined) await endBySignal(signalled, [out, errors])
    return outcome === 'answered' ? 0 : 3
  })
}

/** Writes one JSON object per line. The last one is the turn-finished. */
async function writeEvents(turn: Turn, out: NodeJS.WriteStream): Promise<TurnFinished> {
  for await (const event of turn) out.write(`${printableJson(event)}\n`)
  return turn.finished
}

/** Reads no more than a content may have. Throws `usage` with the flag and the path. */
function contentFile(flag: '--image' | '--file', path: string): Uint8Array {
  const file = opened(flag, path)
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw usageError(`${flag}: ${path} is no file: name a file`)
    if (found.size > limits.contentBytesMax)
      throw usageError(
        `${flag}: ${path} has ${found.size} bytes; at most ${limits.contentBytesMax} are sent. Let a tool read larger files`,
      )
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

function opened(flag: string, path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw usageError(`${flag}: ${path} cannot be read (${code}): name another file`, { cause })
  }
}
