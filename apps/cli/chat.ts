// `weir chat`: a conversation in the terminal. Each message is a turn, shown as in `weir ask`.

import { closedOnFailure } from '../../client/place/closed-on-failure.ts'
import type { Turn } from '../../client/turn/turn.ts'
import type { Weir } from '../../client/weir.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { createAsker } from '../service/approvals/asker.ts'
import { cancellable, listenForInterrupts } from '../terminal/interrupts.ts'
import { createScreen, type Screen } from '../terminal/live-screen.ts'
import { withSilenceNotice } from '../terminal/silence.ts'
import { processStreams, type Streams } from '../terminal/streams.ts'
import { type ChatInput, createChatInput } from './chat-input.ts'
import { type AgentOptions, openAgent, warnOfActiveGuards } from './open-agent.ts'
import { areOneTerminal, showTurn } from './show-turn.ts'

/** `agent`: the path of its file. */
export type ChatOptions = AgentOptions & { agent: string; conversation?: string; raw?: true }

const help = [
  '/conversation  show the id of this conversation and how to continue it later',
  '/help          show this list',
  '/exit          end the chat, as /quit and Ctrl-D',
  'Ctrl-C         cancel the running turn; press it again to kill the process',
].join('\n')

/** Resolves when the user ends the chat. */
export async function chat(
  options: ChatOptions,
  settings: Settings,
  streams: Streams = processStreams(),
): Promise<void> {
  const screen = createScreen(streams.errors, process.env)
  const input = createChatInput(streams)
  const { weir, name } = await openAgent(options.agent, settings, screen, options)
  await closedOnFailure(weir, async () => {
    if (input.isTerminal) screen.print(`${name}: /help lists the commands, /exit ends the chat.`)
    await converse({
      weir,
      name,
      settings,
      screen,
      input,
      streams,
      conversation: options.conversation,
      raw: options.raw,
    })
    await weir.close()
    await warnOfActiveGuards(options, settings, screen)
  })
}

/** `conversation`: undefined until the first message, which begins one. */
type Chat = {
  weir: Weir
  name: string
  settings: Settings
  screen: Screen
  input: ChatInput
  streams: Streams
  conversation: string | undefined
  raw: boolean | undefined
}

async function converse(chat: Chat): Promise<void> {
  const { weir, screen, input } = chat
  for (;;) {
    const text = await Promise.race([nextText(input), weir.failed])
    if (text === undefined) return
    if (text.trim() === '') continue
    if (/^\/(exit|quit)\s*$/.test(text)) return
    if (/^\/[a-z]+\s*$/.test(text)) {
      screen.print(answerTo(text.trim(), chat))
      continue
    }
    const turn = begin(chat, text)
    if (turn === undefined) continue
    chat.conversation = turn.conversation
    if ((await follow(chat, turn)) === 'end') return
  }
}

async function nextText(input: ChatInput): Promise<string | undefined> {
  const stopListening = listenForInterrupts(() => input.close())
  try {
    return await input.next()
  } finally {
    stopListening()
  }
}

function answerTo(command: string, { conversation }: Chat): string {
  if (command === '/help') return help
  if (command !== '/conversation') return `unknown command ${command}: /help lists the commands.`
  if (conversation === undefined) return 'The conversation begins with your first message.'
  return `to continue later: --conversation ${conversation}`
}

/** Undefined: the message is invalid, and the screen shows the reason. */
function begin(
  { weir, name, settings, screen, input, conversation }: Chat,
  text: string,
): Turn | undefined {
  try {
    const turn = weir.ask({ agent: name, text, conversation })
    return withSilenceNotice(turn, settings, screen)
  } catch (error) {
    if (!input.isTerminal || !(error instanceof WeirError) || error.code !== 'message.invalid')
      throw error
    screen.print(error.message)
    return undefined
  }
}

/** `end`: the process should end, so the chat ends with this turn. */
async function follow(
  { weir, screen, raw, streams: { input, out, errors } }: Chat,
  turn: Turn,
): Promise<'end' | 'go on'> {
  let then: 'end' | 'go on' = 'go on'
  const onSignal = (signal: string): void => {
    if (signal === 'SIGTERM') then = 'end'
  }
  const endChat = (): void => {
    then = 'end'
  }
  out.once('error', endChat)
  await cancellable({ turn, screen, readers: [out, errors], onSignal }, () =>
    showTurn({
      turn,
      screen,
      clock: systemClock,
      out,
      isOneTerminal: areOneTerminal(out, errors),
      raw,
      asker: createAsker(weir, screen, { input, errors }),
    }),
  )
  out.off('error', endChat)
  return then
}
