// `weir ask` from a shell: its outputs, exit codes and signals.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import type { Reply } from '../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { until } from '../support/inbox.ts'
import { always, call, resultsOf, says, script, text, textsOf } from '../support/script.ts'
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

const agent = ['--agent', 'agent.yaml']
const ask = ['ask', ...agent]
const totals = expect.stringMatching(
  /^ {2}\d rounds?, \d calls?, [\d,]+ \+ [\d,]+ tokens, [\d.]+ s$/,
)
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const linesOf = (shown: string) => shown.trimEnd().split('\n')

describe('weir ask', () => {
  it('shows the wait for the next attempt, with the reason', async () => {
    const busy: Reply = {
      kind: 'error',
      status: 429,
      message: 'busy',
      headers: { 'retry-after': '1' },
    }
    const { run } = await at(script(busy, says(text('Here I am.'))))
    const { code, out, errors } = await run([...ask, 'hello'])
    expect({ code, out }).toEqual({ code: 0, out: 'Here I am.\n' })
    expect(linesOf(errors)).toContain('  the provider answered 429: busy, next attempt in 1 s')
  })

  it('prints the reply to stdout alone, and other text and results of calls to stderr', async () => {
    const { run, server } = await at(
      script(says(text('I look.'), call('act', {}), call('exec', {})), says(text('All is\nwell.'))),
    )
    const first = await run([...ask, 'How is it?'])
    expect(first).toMatchObject({ code: 0, out: 'All is\nwell.\n' })
    const [goOn, ...lines] = linesOf(first.errors)
    expect(lines.map((line) => line.replace(/[\d.]+ s$/, '# s'))).toEqual([
      'I look.',
      "  exec denied before execution: missing required field 'command'",
      '  act started',
      '  act ok, # s',
      expect.stringMatching(/^ {2}2 rounds, 2 calls, /),
    ])

    const conversation = /^to continue: --conversation ([0-9a-f]{20})$/.exec(goOn ?? '')?.[1] ?? ''
    const second = await run([...ask, '--conversation', conversation, 'And now?'])
    expect(second).toMatchObject({ code: 0, out: 'The script is over.\n' })
    expect(linesOf(second.errors)).toEqual([totals])
    expect(textsOf(server.requests.at(-1))).toEqual([
      'How is it?',
      'I look.',
      'All is\nwell.',
      'And now?',
    ])
  })

  it('exits with 0 also after a round without tools', async () => {
    const { run } = await at(always(() => says(call('exec', {}))))
    const { code, out, errors } = await run([...ask, 'go'])
    expect({ code, out }).toEqual({ code: 0, out: 'I have no tools, so I answer.\n' })
    expect(errors).toContain(
      "  intervention: identical-failure: exec({}) failed in 3 rounds, last with: missing required field 'command'\n",
    )
    expect(errors).toContain('  the model gets one more request, without tools\n')
  })

  it('exits with 3 and the fallback if there is no answer, with the class on stderr', async () => {
    const { run } = await at(() => ({ kind: 'error', status: 400, message: 'no such model' }))
    const { code, out, errors } = await run([...ask, 'go'])
    expect({ code, out }).toEqual({ code: 3, out: 'This is the fallback.\n' })
    expect(errors).toMatch(/^ {2}failed \((refused|provider|deterministic)\): .*no such model/m)
  })

  it('prints all events as lines of JSON to stdout, up to turn-finished, and nothing to stderr', async () => {
    const { run } = await at(script(says(text('I look.'), call('act', {})), says(text('Well.'))))
    const { code, out, errors } = await run([...ask, '--json', 'go'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    const events = linesOf(out).map((line) => JSON.parse(line) as Message)
    expect(events.map(({ type }) => type)).toEqual([
      ...['turn-started', 'round-started', 'text-delta', 'model-answered', 'tool-started'],
      ...['call-finished', 'round-started', 'text-delta', 'model-answered', 'turn-finished'],
    ])
    expect(events.at(-1)).toMatchObject({ outcome: 'answered', reply: 'Well.' })
  })

  it('exits with 3 also if it prints events', async () => {
    const { run } = await at(() => ({ kind: 'error', status: 400, message: 'no' }))
    const { code, out } = await run([...ask, '--json', 'go'])
    expect(code).toBe(3)
    expect(JSON.parse(linesOf(out).at(-1) ?? '')).toMatchObject({
      type: 'turn-finished',
      outcome: 'failed',
      reply: 'This is the fallback.',
    })
  })

  it('reads its message from standard input', async () => {
    const { run, server } = await at(() => says(text('Read.')))
    expect(await run([...ask, '-'], { input: 'What is\nthis?\n' })).toMatchObject({
      code: 0,
      out: 'Read.\n',
    })
    expect(await run(ask, { input: 'And this?' })).toMatchObject({ code: 0, out: 'Read.\n' })
    expect(server.requests.map(textsOf)).toEqual([['What is\nthis?'], ['And this?']])
  })

  it.each([
    [
      'a message that is not UTF-8',
      [...ask],
      Buffer.from([0x68, 0xff]),
      'not UTF-8 (byte 2 is 0xff)',
    ],
    ['an empty message', [...ask, ''], '', 'empty or blank'],
    ['nothing on standard input', ask, '', 'standard input is empty'],
    [
      'a message over its limit',
      ask,
      'x'.repeat(limits.userMessageBytesMax + 1),
      'at most 1048576',
    ],
    ['no agent', ['ask', 'go'], '', "'--agent <file>' not specified"],
    ['a missing agent file', ['ask', '--agent', 'no.yaml', 'go'], '', 'no.yaml'],
    ['two messages', [...ask, 'one', 'two'], '', 'too many arguments'],
    ['an empty conversation', [...ask, '--conversation', '', 'go'], '', 'id has 0 bytes'],
    ['a setting that is none', [...ask, '--partitions', '0', 'go'], '', 'partitions is "0"'],
  ])('exits with 2 and names the accepted input: %s', async (_, args, input, message) => {
    const { run, server } = await at(() => says(text('no')))
    const { code, out, errors } = await run(args, { input })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(errors).toContain(message)
    expect(server.requests).toEqual([])
  })

  it('answers next to another weir ask in the data folder, and both answers are right', async () => {
    const { run, start } = await at((request) =>
      textsOf(request)[0] === 'wait' ? says(call('act', { sleepMs: 60_000 })) : says(text('Done.')),
    )
    const first = start([...ask, 'wait'])
    await first.shows('act started')
    expect(await run([...ask, 'go'])).toMatchObject({ code: 0, out: 'Done.\n' })
    first.child.kill('SIGINT')
    expect(await first.ended).toMatchObject({ code: null, signal: 'SIGINT' })
  })

  it('goes on in the second weir ask when the first one is killed', async () => {
    const { folder, server, start } = await at((request) => {
      if (textsOf(request)[0] === 'wait') return says(call('act', { sleepMs: 60_000 }))
      return request.messages.length === 1
        ? says(call('act', { until: 'killed', answer: 'acted' }))
        : says(text('Done.'))
    })
    const first = start([...ask, 'wait'])
    await first.shows('act started')
    const second = start([...ask, 'go'])
    await second.shows('act started')
    first.child.kill('SIGKILL')
    await first.ended
    await writeFile(join(folder, 'killed'), '')
    expect(await second.ended).toMatchObject({ code: 0, out: 'Done.\n' })
    expect(resultsOf(server.requests.at(-1))).toEqual(['acted'])
  })

  it('ends quietly when its reader is gone', async () => {
    const { folder, start } = await at(
      script(says(call('act', { until: 'gone' })), says(text('Done.'))),
    )
    const { child, shows, ended } = start([...ask, 'go'])
    await shows('act started')
    child.stdout.destroy()
    child.stderr.destroy()
    await writeFile(join(folder, 'gone'), '')
    expect((await ended).signal).toBeNull()
  })

  it('finishes the turn of a killed process with the real result of its tool, and then answers', async () => {
    const model = ({ messages }: ModelCall) =>
      messages.length === 1
        ? says(call('act', { sleepMs: 5_000 }))
        : says(text(`Heard ${messages.length}.`))
    const { start, run, server } = await at(model)
    const inConversation = [...ask, '--conversation', 'c']
    const killed = start([...inConversation, 'one'])
    await killed.shows('act started')
    killed.child.kill('SIGKILL')
    await killed.ended
    const { code, out, errors } = await run([...inConversation, 'two'])
    expect({ code, out }).toEqual({ code: 0, out: 'Heard 5.\n' })
    expect(errors).not.toContain('act started')
    expect(resultsOf(server.requests.at(-1))).toEqual(['ran: {"sleepMs":5000}'])
  })
})

it('writes no terminal codes to a pipe, and all bytes with --raw', async () => {
  const { run } = await at(() => says(text('a\u001b]0;owned\u0007b\u009b2J\u202ec')))
  expect((await run([...ask, 'go'])).out).toBe('a]0;ownedb2Jc\n')
  expect((await run([...ask, '--raw', 'go'])).out).toBe('a\u001b]0;owned\u0007b\u009b2J\u202ec\n')
})

it('writes no terminal codes with --json, and the same text to a parser', async () => {
  const { run } = await at(() => says(text('a\u001b]0;owned\u0007b')))
  const { out } = await run([...ask, '--json', 'go'])
  expect(out).not.toContain('\u001b')
  expect(out).not.toContain('\u0007')
  expect(JSON.parse(linesOf(out).at(-1) ?? '')).toMatchObject({
    type: 'turn-finished',
    reply: 'a\u001b]0;owned\u0007b',
  })
})

describe('Ctrl-C', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '(%s) in a tool cancels the turn, waits for the tool, reports its result, and ends by the signal',
    async (signal) => {
      const { start } = await at(() => says(call('act', { sleepMs: 60_000 })))
      const { child, shows, ended } = start([...ask, 'go'])
      await shows('act started')
      child.kill(signal)
      const { errors, ...end } = await ended
      expect(end).toMatchObject({ code: null, signal, out: 'This is the fallback.\n' })
      expect(linesOf(errors).slice(-4)).toEqual([
        expect.stringContaining('cancelling'),
        expect.stringContaining('act may have run, its outcome is unknown: '),
        '  cancelled: the client cancelled it',
        totals,
      ])
    },
  )

  it('cancels the turn while text streams', async () => {
    const { start } = await at(() => ({ kind: 'stall', blocks: [text('I was just about to')] }))
    const { child, shows, ended } = start([...ask, '--json', 'go'])
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk) => String(chunk).includes('text-delta') && resolve())
    })
    child.kill('SIGINT')
    await shows('cancelling')
    const { signal, out } = await ended
    expect(signal).toBe('SIGINT')
    expect(JSON.parse(linesOf(out).at(-1) ?? '')).toMatchObject({
      type: 'turn-finished',
      outcome: 'cancelled',
    })
  })

  it('kills at the second time, also a tool that ignores SIGTERM', async () => {
    const { folder, start } = await at(() => says(call('stubborn', {})))
    const { child, shows, ended } = start([...ask, 'go'])
    await shows('stubborn started')
    let tool = 0
    await until(async () => {
      tool = Number(await readFile(join(folder, 'stubborn-pid'), 'utf8').catch(() => '')) // it exists once the tool ignores SIGTERM
      return tool > 0
    })
    child.kill('SIGINT')
    await shows('Ctrl-C again kills')
    expect(isRunning(tool)).toBe(true)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: null, signal: 'SIGINT', out: '' })
    await until(async () => !isRunning(tool))
  })
})

onTerminals('on a terminal', () => {
  const reply =
    'This is a reply that is longer than one line of a terminal with eighty columns, so it is broken between words.'

  /** The final screen: of each line, the text after its last clearing. */
  const screenOf = (out: string) =>
    out.split('\r\n').map((line) => line.split('\r\u001b[K').at(-1) ?? '')

  it('shows the reply once, wrapped, and a live line while a tool runs', async () => {
    const { folder, startOnTerminal } = await at(
      script(says(text('I look.'), call('act', { until: 'seen' })), says(text(reply))),
    )
    const { ended, shows } = startOnTerminal([...ask, 'go'], { NO_COLOR: '1' })
    await shows('  act running, ')
    await writeFile(join(folder, 'seen'), '')
    const { code, out } = await ended
    expect(code).toBe(0)
    expect(screenOf(out).slice(1)).toEqual([
      'I look.',
      expect.stringMatching(/^ {2}act ok, [\d.]+ s$/),
      'This is a reply that is longer than one line of a terminal with eighty columns,',
      'so it is broken between words.',
      totals,
      '',
    ])
  })

  it('shows colours, unless NO_COLOR is set', async () => {
    const { startOnTerminal } = await at(() => says(text('Hello.')))
    expect((await startOnTerminal([...ask, 'go']).ended).out).toContain('\u001b[2m')
    expect((await startOnTerminal([...ask, 'go'], { NO_COLOR: '1' }).ended).out).not.toContain(
      '\u001b[2m',
    )
  })

  it('does not obey terminal codes of a model', async () => {
    const { startOnTerminal } = await at(() => says(text('a\u001b]0;owned\u0007b')))
    const { out } = await startOnTerminal([...ask, 'go']).ended
    expect(out).not.toContain('\u001b]0')
    expect(out).toContain('a\\u{1b}]0;owned\\u{7}b')
  })
})
