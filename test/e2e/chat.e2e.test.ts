// `weir chat` from a shell: piped in, and at a terminal.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { Reply } from '../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { call, says, text, textsOf } from '../support/script.ts'
import { type CommandFolder, onTerminals, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder | undefined

afterEach(async () => {
  await commands?.close()
  commands = undefined
})

async function at(model: (request: ModelCall, number: number) => Reply): Promise<CommandFolder> {
  commands = await openCommandFolder(model)
  return commands
}

const chat = ['chat', '--agent', 'agent.yaml']
/** Repeats the last message. Runs a tool for a minute if the message is to wait. */
const parrot = (request: ModelCall) => {
  const lastText = textsOf(request).at(-1)
  return lastText === 'wait'
    ? says(call('act', { sleepMs: 60_000 }))
    : says(text(`You said: ${lastText}.`))
}

describe('a piped chat', () => {
  it('answers each line in one conversation, and ends with its input', async () => {
    const { run, server } = await at(parrot)
    const { code, out } = await run(chat, { input: 'one\n\ntwo' })
    expect({ code, out }).toEqual({ code: 0, out: 'You said: one.\nYou said: two.\n' })
    expect(server.requests.map(textsOf)).toEqual([['one'], ['one', 'You said: one.', 'two']])
  })

  it('continues a conversation, and prints its id', async () => {
    const { run, server } = await at(parrot)
    await run(['ask', '--agent', 'agent.yaml', '--conversation', 'c', 'before'])
    const { errors } = await run([...chat, '--conversation', 'c'], {
      input: 'after\n/conversation\n/help\n/other\n',
    })
    expect(server.requests.map(textsOf).at(-1)).toEqual(['before', 'You said: before.', 'after'])
    expect(errors).toContain('to continue later: --conversation c\n')
    expect(errors).toContain('Ctrl-D')
    expect(errors).toContain('unknown command /other: /help lists the commands.\n')
  })

  it('ends with the turn that SIGTERM cancels', async () => {
    const { start, server } = await at(parrot)
    const { child, shows, ended } = start(chat, { input: 'wait\nnever\n' })
    await shows('act started')
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, out: 'This is the fallback.\n' })
    expect(server.requests).toHaveLength(1)
  })

  it('exits with 2 if its input is not UTF-8', async () => {
    const { run } = await at(parrot)
    expect(await run(chat, { input: Buffer.from([0xff, 0x0a]) })).toMatchObject({
      code: 2,
      out: '',
    })
  })
})

onTerminals('a chat at a terminal', () => {
  it('answers typed lines; Ctrl-C cancels only the running turn, Ctrl-D ends', async () => {
    const { startOnTerminal } = await at(parrot)
    const { child, shows, ended } = startOnTerminal(chat, { NO_COLOR: '1' })
    await shows('> ')
    child.stdin.write('hello\r')
    await shows('You said: hello.')
    await shows('> ')
    child.stdin.write('wait\r')
    await shows('act running')
    child.stdin.write('\u0003')
    await shows('cancelled: the client cancelled it')
    await shows('This is the fallback.')
    await shows('> ')
    child.stdin.write('half')
    await shows('half')
    child.stdin.write('\u0003')
    await shows('> ')
    child.stdin.write('again\r')
    await shows('You said: again.')
    await shows('> ')
    child.stdin.write('\u0004')
    expect(await ended).toMatchObject({ code: 0 })
  })

  it('reads pasted lines as one message, and ends at /exit', async () => {
    const { startOnTerminal, server } = await at(parrot)
    const { child, shows, ended } = startOnTerminal(chat, { NO_COLOR: '1' })
    await shows('> ')
    child.stdin.write('one\rtwo\rthree\r')
    await shows('You said: one')
    await shows('> ')
    child.stdin.write('/exit\r')
    expect(await ended).toMatchObject({ code: 0 })
    expect(server.requests.map(textsOf)).toEqual([['one\ntwo\nthree']])
  })
})
