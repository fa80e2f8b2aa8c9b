// `weir inspect` and `weir conversations` from a shell, on the logs of real runs of `weir ask`.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Reply } from '../../apps/demo/anthropic-server.ts'
import type { ConversationSummary } from '../../client/history/summary.ts'
import type { Timeline } from '../../shared/view/timeline.ts'
import { call, says, text, textsOf, thinking } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

const evil = '\u001b]0;owned\u0007\u202e'

/** The model's responses, by the user's first text. */
const scripts: Record<string, (number: number) => Reply> = {
  mixed: (number) =>
    [
      {
        kind: 'error',
        status: 529,
        headers: { 'retry-after-ms': '1' },
        message: 'overloaded',
      } as const,
      says(
        thinking('I should look first.'),
        text('I look.'),
        call('act', { answer: `done${evil}` }),
        call('exec', {}),
      ),
      says(text(`All is well.${evil}`)),
    ][number - 1] ?? says(text('And now, too.')),
  loop: (number) => (number <= 4 ? says(call('exec', {})) : says(text('I give up.'))),
  refused: () => ({ kind: 'error', status: 400, message: 'bad request' }),
  slow: () => says(call('act', { sleepMs: 60_000 })),
}

let commands: CommandFolder
beforeAll(async () => {
  const numbers = new Map<string, number>()
  commands = await openCommandFolder((request) => {
    const [first = ''] = textsOf(request)
    const number = (numbers.get(first) ?? 0) + 1
    numbers.set(first, number)
    return (scripts[first] as (number: number) => Reply)(number)
  })
  for (const conversation of ['mixed', 'loop', 'refused'])
    await commands.run([
      'ask',
      '--agent',
      'agent.yaml',
      '--conversation',
      conversation,
      conversation,
    ])
  await commands.run(['ask', '--agent', 'agent.yaml', '--conversation', 'mixed', 'and now?'])
})
afterAll(() => commands.close())

/** The text without the parts that differ from run to run. */
const steady = (shown: string) =>
  shown
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{3})? UTC/g, 'WHEN')
    .replaceAll(/\d+ ms|\d+\.\d s|\b\d+ s\b/g, '# s')
    .replaceAll(/(message +)[0-9a-f]{20}/g, '$1ID')
    .replaceAll(/, waited # s for its turn/g, '')
    .replaceAll(/[\d,]+ in, [\d,]+ out|[\d,]+ \+ [\d,]+ tokens/g, 'N tokens')

describe('weir inspect', () => {
  it('shows attempts, calls, verdicts, results, and the end of the turn', async () => {
    const { code, out, errors } = await commands.run(['inspect', 'mixed'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(steady(out)).toMatch(
      new RegExp(
        [
          '^Conversation mixed: idle, 2 turns\n\nTurn 1, agent agent, WHEN\n  message   ID; offset \\d+\n  \\| mixed\n',
          '    attempt 1 failed after # s \\(transient\\): the provider answered 529:\n',
          '    attempt 2 answered after # s\n',
          '    thinks    20 characters, \\d+ bytes as sent; --reasoning shows it\n    says      I look.\n',
          '    call 0    act \\{"answer":"done.*\n(.*\n)*?      try 1: claimed after # s, started after # s, ended \\(ok\\) after # s\n      ok after # s\n',
          "    call 1    exec \\{\\}\n      denied before execution \\(schema\\): missing required field 'command'\n",
          '  notable   1 call denied before running\n  answered after # s: the model answered\n',
          '\nTurn 2, agent agent, WHEN\n  message   ID; offset \\d+\n  \\| and now\\?\n',
          '    says      And now, too.\n',
          '  totals    1 round, 0 calls, N tokens\n$',
        ].join('(.*\n)*?'),
      ),
    )
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it('has no colour and no terminal codes if it is piped', async () => {
    for (const args of [
      ['inspect', 'mixed'],
      ['inspect', 'mixed', '--full', '--reasoning'],
      ['inspect', 'mixed', '--json'],
      ['conversations'],
    ]) {
      const { out } = await commands.run(args)
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })

  it('shows the intervention in its round, and its text in the request that has it', async () => {
    const { out } = await commands.run(['inspect', 'loop'])
    expect(out).toMatch(
      / {4}detector {2}nudge \(rule identical-failure, version \d+\): exec\(\{\}\) failed in 3\n/,
    )
    expect(out).toMatch(/ {6}evidence {2}round 1 call 0; round 2 call 0; round 3 call 0\n/)
    expect(out).toMatch(
      / {2}Round 4,.*\n {4}shown {5}with this request:\n {6}\| SYSTEM INTERVENTION/,
    )
    expect(out).toMatch(/ {2}Round 5,.*\n {4}limited {3}text only/)
  })

  it('prints one object with the same content as JSON', async () => {
    const { code, out } = await commands.run(['inspect', 'mixed', '--json'])
    expect(code).toBe(0)
    const timeline = JSON.parse(out) as Timeline
    expect(timeline).toMatchObject({
      conversation: 'mixed',
      state: 'idle',
      messages: [],
      troubles: [],
      unreadable: 0,
    })
    const [first] = timeline.turns
    expect(first).toMatchObject({
      agent: 'agent',
      text: 'mixed',
      end: { outcome: 'answered', reply: `All is well.${evil}` },
    })
    expect(first?.rounds[0]).toMatchObject({
      round: 1,
      attempts: [{ end: 'failed', failure: { class: 'transient' } }, { end: 'answer' }],
      response: { text: 'I look.', reasoning: { characters: 20, text: null } },
      calls: [
        {
          name: 'act',
          source: 'deltas',
          verdict: { kind: 'allow' },
          tries: [{ try: 1, end: 'result', status: 'ok' }],
          result: { status: 'ok' },
        },
        {
          name: 'exec',
          rawArguments: '{}',
          verdict: { kind: 'deny', code: 'schema' },
          tries: [],
          result: { status: 'denied' },
        },
      ],
    })
    const { out: more } = await commands.run(['inspect', 'mixed', '--json', '--reasoning'])
    expect((JSON.parse(more) as Timeline).turns[0]?.rounds[0]?.response?.reasoning?.text).toBe(
      'I should look first.',
    )
  })

  it('shows an open turn next to the Weir that runs it, and disturbs nothing', async () => {
    const asking = commands.start([
      'ask',
      '--agent',
      'agent.yaml',
      '--conversation',
      'slow',
      'slow',
    ])
    await asking.shows('act started')
    const { code, out } = await commands.run(['inspect', 'slow'])
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('Conversation slow: open, 1 turn\n'),
    })
    expect(out).toMatch(/ {6}try \d+: claimed after [^,]+, started after [^,\n]+\n/)
    expect(out).toContain('    open      waits for its tools\n')
    expect((await commands.run(['doctor'])).out).toMatch(
      new RegExp(`warning +lock +process ${asking.child.pid} writes there`),
    )
    asking.child.kill('SIGINT')
    expect(await asking.ended).toMatchObject({ code: null, signal: 'SIGINT' })
    const after = await commands.run(['inspect', 'slow'])
    expect(after.out).toContain('Conversation slow: idle, 1 turn\n')
    expect(after.out).toMatch(/ {2}cancelled after .*: the client cancelled it\n/)
  })

  it('lists the conversations if it does not know the given one', async () => {
    const { code, out, errors } = await commands.run(['inspect', 'mixd'])
    expect({ code, out, errors }).toEqual({
      code: 1,
      out: '',
      errors: 'weir: there is no conversation mixd; did you mean mixed?\n',
    })
    const { errors: far } = await commands.run(['inspect', `zzzzzz${evil}`])
    expect(far).toMatch(
      /^weir: there is no conversation zzzzzz\\u\{1b\}.*; the newest are .*\(weir conversations lists more\)\n$/,
    )
  })

  it('names the remedy if there is no log, or none with these topics', async () => {
    const nowhere = await commands.run(['inspect', 'mixed', '--data-folder', 'nowhere'])
    expect(nowhere).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/^weir: there is no log at nowhere\/weir\.db: name the folder/),
    })
    const other = await commands.run(['inspect', 'mixed', '--topic-prefix', 'other.'])
    expect(other).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/has no topics with the prefix 'other\.': give the prefix/),
    })
  })
})

describe('weir conversations', () => {
  it("lists them, the newest first, with the end of each one's last turn", async () => {
    const { code, out } = await commands.run(['conversations'])
    expect(code).toBe(0)
    const lines = steady(out).split('\n')
    const at = (id: string) => lines.findIndex((line) => line.split('  ')[0] === id)
    expect(at('mixed')).toBeLessThan(at('refused'))
    expect(at('refused')).toBeLessThan(at('loop'))
    expect(lines[at('mixed')]).toBe('mixed  mixed')
    expect(lines[at('mixed') + 2]).toBe('  ! 1 call denied before running')
    expect(lines[at('mixed') + 1]).toMatch(
      /^ {2}WHEN {2}answered {14}2 turns, [\d,]+ tokens, agent$/,
    )
    expect(lines[at('refused') + 1]).toMatch(
      /^ {2}WHEN {2}failed \(refused\) {6}1 turn, 0 tokens, agent$/,
    )
  })

  it('prints one JSON object a line, up to the limit', async () => {
    const { out } = await commands.run(['conversations', '--json', '--limit', '2'])
    const summaries = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ConversationSummary)
    expect(summaries).toHaveLength(2)
    const mixed = summaries.find(({ conversation }) => conversation === 'mixed')
    const { out: inspected } = await commands.run(['inspect', 'mixed', '--json'])
    const totals = (JSON.parse(inspected) as Timeline).turns.map(({ end }) => end?.totals)
    expect(mixed).toMatchObject({
      agent: 'agent',
      turns: 2,
      last: { outcome: 'answered', class: null },
      inputTokens: totals.reduce((sum, one) => sum + (one?.inputTokens ?? 0), 0),
      outputTokens: totals.reduce((sum, one) => sum + (one?.outputTokens ?? 0), 0),
    })
  })

  it.each(['0', '-1', 'many', '1000000'])('refuses a limit of %s', async (limit) => {
    const { code, errors } = await commands.run(['conversations', '--limit', limit])
    expect({ code, errors }).toEqual({
      code: 2,
      errors: `weir: --limit is '${limit}': give a whole number from 1 to 100000\n`,
    })
  })
})
