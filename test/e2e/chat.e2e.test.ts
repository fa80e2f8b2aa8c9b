// `weir chat` as somebody at a shell has it: piped in, and at a terminal.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { ModelCall, Reply } from '../../apps/demo/anthropic-server.ts'
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
/** Says what it heard last; runs a tool for a minute when it is asked to wait. */
const parrot = (request: ModelCall) => {
  const heard = textsOf(request).at(-1)
  return heard === 'wait'
    ? says(call('act', { sleepMs: 60_000 }))
    : says(text(`You said: ${heard}.`))
}

describe('a piped chat', () => {
  it('answers each line in one conversation, and ends with its input', async () => {
    const { run, server } = await at(parrot)
    const { code, out } = await run(chat, { input: 'one\n\ntwo' })
    expect({ code, out }).toEqual({ code: 0, out: 'You said: one.\nYou said: two.\n' })
    expect(server.requests.map(textsOf)).toEqual([['one'], ['one', 'You said: one.', 'two']])
  })

  it('goes on with a conversation, and tells which one it is', async () => {
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

  it('ends with the turn that is cancelled by SIGTERM', async () => {
    const { start, server } = await at(parrot)
    const { child, shows, ended } = start(chat, { input: 'wait\nnever\n' })
    await shows('act started')
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, out: 'This is the fallback.\n' })
    expect(server.requests).toHaveLength(1)
  })

  it('exits with 2 where its input is no UTF-8', async () => {
    const { run } = await at(parrot)
    expect(await run(chat, { input: Buffer.from([0xff, 0x0a]) })).toMatchObject({
      code: 2,
      out: '',
    })
  })
})

onTerminals('a chat at a terminal', () => {
  it('answers what is typed, Ctrl-C cancels the running turn and no more, Ctrl-D ends', async () => {
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

  it('takes pasted lines as one message', async () => {
    const { startOnTerminal, server } = await at(parrot)
    const { child, shows, ended } = startOnTerminal(chat, { NO_COLOR: '1' })
    await shows('> ')
    child.stdin.write('one\rtwo\rthree\r')
    await shows('You said: one')
    await shows('> ')
    child.stdin.write('\u0004')
    await ended
    expect(server.requests.map(textsOf)).toEqual([['one\ntwo\nthree']])
  })
})
