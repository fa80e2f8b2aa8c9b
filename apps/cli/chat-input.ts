// What a user of `weir chat` types: messages, one after the other. At a terminal with a prompt and
// a history of this session; piped in, each line is a message. Standard input is read only between
// turns, so that Ctrl-C in a turn reaches the process and not the prompt.

import { createInterface } from 'node:readline'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Streams } from '../terminal/streams.ts'

export type ChatInput = {
  /** There is a person who can try again. */
  readonly isTerminal: boolean
  /** The next message, perhaps blank; undefined: there are no more. */
  next(): Promise<string | undefined>
  /** Ends the wait for a message, if there is one. */
  close(): void
}

const historyMax = 500
/** Lines that come within this time of each other were pasted, and are one message. */
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
        if (prompt.line === '') prompt.close() // else the paste did not end with a line end, and Enter is still to come
      }, pasteMs)
    })
    prompt.on('SIGINT', () => {
      lines.length = 0
      errors.write(prompt.line === '' ? '\nCtrl-D ends the chat.\n' : '\n')
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
    throw notUtf8(cause)
  }
}

function notUtf8(cause: unknown): WeirError {
  return new WeirError(
    'usage',
    'standard input is no UTF-8: convert it first, for example with iconv',
    { cause },
  )
}
