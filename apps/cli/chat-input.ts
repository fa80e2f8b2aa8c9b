// The input of `weir chat`: one message after the other. A terminal gets a prompt and a history of
// this session. In piped input each line is a message. It reads standard input only between turns:
// during a turn, Ctrl-C must reach the process and not the prompt.

import { createInterface } from 'node:readline'
import { usageError } from '../../shared/lib/errors.ts'
import type { Streams } from '../terminal/streams.ts'

export type ChatInput = {
  /** True: a person types and can try again. */
  readonly isTerminal: boolean
  /** The next message, possibly blank. Undefined: the input has ended. */
  next(): Promise<string | undefined>
  /** Ends a pending `next`. */
  close(): void
}

const historyMax = 500
/** Lines that arrive within this time of each other were pasted and form one message. */
const pasteMs = 30

export function createChatInput({ input, errors }: Pick<Streams, 'input' | 'errors'>): ChatInput {
  return input.isTTY === true && errors.isTTY === true
    ? promptInput({ input, errors })
    : pipedInput(input)
}

function promptInput({ input, errors }: Pick<Streams, 'input' | 'errors'>): ChatInput {
  let history: string[] = []
  let close = (): void => {}

  function next(): Promise<string | undefined> {
    const lines: string[] = []
    const prompt = createInterface({
      input,
      output: errors,
      terminal: true,
      prompt: '> ',
      history,
      historySize: historyMax,
    })
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    let timer: NodeJS.Timeout | undefined
    close = () => prompt.close()

    prompt.on('line', (line) => {
      lines.push(line)
      clearTimeout(timer)
      timer = setTimeout(() => {
        // Text after the last line end is an unfinished paste: wait for Enter.
        if (prompt.line === '') prompt.close()
      }, pasteMs)
    })
    prompt.on('SIGINT', () => {
      lines.length = 0
      errors.write(prompt.line === '' ? '\n/exit or Ctrl-D ends the chat.\n' : '\n')
      prompt.write(null, { ctrl: true, name: 'e' })
      prompt.write(null, { ctrl: true, name: 'u' })
      prompt.prompt()
    })
    prompt.on('history', (lines) => {
      history = lines
    })
    prompt.on('close', () => {
      clearTimeout(timer)
      if (lines.length === 0) errors.write('\n')
      resolve(lines.length === 0 ? undefined : lines.join('\n'))
    })
    prompt.prompt()
    return promise
  }

  return { isTerminal: true, next, close: () => close() }
}

function pipedInput(input: Streams['input']): ChatInput {
  const lines = linesOf(input)
  const { promise: closed, resolve: close } = Promise.withResolvers<{ value: undefined }>()
  return {
    isTerminal: false,
    next: async () => (await Promise.race([lines.next(), closed])).value,
    close() {
      close({ value: undefined })
      input.destroy()
    },
  }
}

async function* linesOf(input: Streams['input']): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const chunk of input) {
    const lines =
      `${rest}${decoded(() => decoder.decode(chunk as Buffer, { stream: true }))}`.split(/\r?\n/)
    rest = lines.pop() ?? ''
    yield* lines
  }
  rest += decoded(() => decoder.decode())
  if (rest !== '') yield rest
}

function decoded(decode: () => string): string {
  try {
    return decode()
  } catch (cause) {
    throw usageError('standard input is not UTF-8: convert it first, for example with iconv', {
      cause,
    })
  }
}
