// `weir tail` from a shell, on the file of the embedded bus: the records of two turns, and new
// records while it follows.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RecordLine } from '../../apps/history/tail/record-line.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { call, says, text, textsOf } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
beforeAll(async () => {
  commands = await openCommandFolder((request) => {
    const [first] = textsOf(request)
    return first === 'act' && request.messages.length === 1
      ? says(call('act', { answer: 'done' }))
      : says(text('Done.'))
  })
  for (const conversation of ['act', 'plain'])
    await commands.run([
      'ask',
      '--agent',
      'agent.yaml',
      '--conversation',
      conversation,
      '--partitions',
      '4',
      conversation,
    ])
})
afterAll(() => commands.close())

async function linesOf(...args: string[]): Promise<RecordLine[]> {
  const { code, out, errors } = await commands.run(['tail', ...args])
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  return parsed(out)
}

const parsed = (out: string) =>
  out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as RecordLine)
const typesOf = (lines: RecordLine[]) => lines.map(({ type }) => type)
const plainTypes = ['turn-started', 'round-started', 'model-answered', 'turn-finished']
const actTypes = [
  'turn-started',
  'round-started',
  'model-answered',
  'tool-started',
  'call-finished',
  'round-started',
  'model-answered',
  'turn-finished',
]

describe('weir tail', () => {
  it('shows the decoded records of a topic, of all partitions in the order of time', async () => {
    const lines = await linesOf('activity')
    expect(typesOf(lines)).toEqual([...actTypes, ...plainTypes])
    expect(lines.map(({ key }) => key)).toEqual([
      ...actTypes.map(() => 'act'),
      ...plainTypes.map(() => 'plain'),
    ])
    expect(lines[0]).toMatchObject({
      topic: 'weir.activity',
      partition: partitionOf('act', 4),
      offset: 0,
      key: 'act',
      id: expect.stringMatching(/^conversation\//),
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      message: { type: 'turn-started', conversation: 'act' },
    })
    expect(lines.find(({ type }) => type === 'tool-started')?.id).toBeNull()
  })

  it('accepts a topic with its prefix too, and shows only the selected records', async () => {
    expect(typesOf(await linesOf('weir.activity', '--conversation', 'plain'))).toEqual(plainTypes)
    const types = ['--type', 'turn-started', '--type', 'turn-finished']
    expect(typesOf(await linesOf('activity', ...types, '--conversation', 'act'))).toEqual([
      'turn-started',
      'turn-finished',
    ])
    expect(typesOf(await linesOf('activity', '--limit', '2'))).toEqual([
      'turn-started',
      'round-started',
    ])
    expect(typesOf(await linesOf('history', '--conversation', 'act'))).toEqual([
      'history-entry',
      'history-entry',
      'history-entry',
    ])
    const partition = String(partitionOf('act', 4))
    const fromOffset = await linesOf(
      'activity',
      '--partition',
      partition,
      '--conversation',
      'act',
      '--from',
      '4',
    )
    expect(typesOf(fromOffset)).toEqual(actTypes.slice(4))
  })

  it('begins and ends at a time', async () => {
    const lines = await linesOf('activity')
    const [begin, end] = [lines[2]?.time ?? '', lines[5]?.time ?? '']
    const within = (time: string) => time >= begin && time < end
    expect(await linesOf('activity', '--since', begin, '--until', end)).toEqual(
      lines.filter(({ time }) => within(time)),
    )
    expect(await linesOf('activity', '--from', begin)).toEqual(
      lines.filter(({ time }) => time >= begin),
    )
    expect(await linesOf('activity', '--since', '1h ago')).toEqual(lines)
    expect(await linesOf('activity', '--until', '1h ago')).toEqual([])
  })

  it('follows new records, and ends with 0 after Ctrl-C', async () => {
    const following = commands.start([
      'tail',
      'activity',
      '--follow',
      '--conversation',
      'later',
      '--from',
      'beginning',
    ])
    let out = ''
    const finished = new Promise<void>((resolve) => {
      following.child.stdout.on('data', (text: string) => {
        out += text
        if (out.includes('"turn-finished"')) resolve()
      })
    })
    await commands.run(['ask', '--agent', 'agent.yaml', '--conversation', 'later', 'later'])
    await finished
    following.child.kill('SIGINT')
    expect(await following.ended).toMatchObject({ code: 0, signal: null, errors: '' })
    expect(typesOf(parsed(out))).toEqual(plainTypes)
  })

  it('follows until a time, or up to a number of records', async () => {
    expect(await commands.run(['tail', 'activity', '--follow', '--until', 'now'])).toMatchObject({
      code: 0,
      out: '',
    })
    const { code, out } = await commands.run([
      'tail',
      'activity',
      '--follow',
      '--from',
      'beginning',
      '--limit',
      '3',
    ])
    expect({ code, lines: parsed(out).length }).toEqual({ code: 0, lines: 3 })
  })

  it('ends without a message when its reader is gone', async () => {
    const { child, ended } = commands.start(['tail', 'activity', '--follow', '--from', 'beginning'])
    child.stdout.destroy()
    expect(await ended).toMatchObject({ code: 0, signal: null, errors: '' })
  })

  it('shows records that are not messages with the reason, and bytes in base64', async () => {
    const strange = Buffer.from('no frame')
    const bus = await openEmbeddedBus({
      file: join(commands.folder, '.weir', 'weir.db'),
      clock: systemClock,
    })
    await bus.append([
      { topic: 'weir.rounds-proposed', partition: 1, key: 'str\u001bange', value: strange },
    ])
    await bus.append([{ topic: 'weir.history', partition: 1, key: 'gone', value: null }])
    await bus.close()
    const { out } = await commands.run([
      'tail',
      'rounds-proposed',
      '--conversation',
      'str\u001bange',
      '--partition',
      '1',
    ])
    expect(out).not.toContain('\u001b')
    expect(parsed(out)).toEqual([
      expect.objectContaining({
        key: 'str\u001bange',
        type: null,
        message: null,
        undecodable: {
          code: 'codec.bad-frame',
          reason: expect.stringContaining('first byte'),
          bytes: 8,
          base64: strange.toString('base64'),
        },
      }),
    ])
    const tombstone = (await linesOf('history', '--partition', '1')).find(
      ({ key }) => key === 'gone',
    )
    expect(tombstone).toMatchObject({ type: null, message: null })
    await commands.run(['ask', '--agent', 'agent.yaml', 'another turn']) // the stages read the strange record
    const [letter] = await linesOf('dead-letters', '--conversation', 'str\u001bange')
    expect(letter).toMatchObject({
      type: 'dead-letter',
      partition: 1,
      message: { value: strange.toString('base64') },
    })
  })

  it.each([
    [
      ['activty'],
      /^weir: there is no topic activty\. Did you mean activity\? The topics are client-messages, conversation-events, .*dead-letters, and guard-verdicts\.NAME of each guard\n$/,
    ],
    [
      ['guard-verdicts.nobody'],
      /^weir: there is no topic weir\.guard-verdicts\.nobody: no such guard was ever registered/,
    ],
    [
      ['activity', '--type', 'turn-finishd'],
      /which activity does not have\. Did you mean turn-finished\? Its types are turn-started, /,
    ],
    [
      ['activity', '--type', 'round-outcome'],
      /which activity does not have\. conversation-events and guest-events have it\. Its types/,
    ],
    [['activity', '--partition', '4'], /--partition is 4; the last partition of activity is 3\n$/],
    [['activity', '--partition', 'x'], /--partition is 'x': give a whole number from 0\n$/],
    [['activity', '--limit', '0'], /--limit is '0': give a whole number from 1\n$/],
    [['activity', '--from', 'end'], /--from end without --follow shows nothing/],
    [['activity', '--from', '12'], /--from 12 is an offset, and each partition has its own/],
    [
      ['activity', '--from', 'noon'],
      /--from is 'noon': give beginning, end, an offset, or a time such as/,
    ],
    [
      ['activity', '--since', '5 minutes'],
      /--since is '5 minutes': give a time such as 2026-07-29T10:12:03Z or '10m ago'/,
    ],
    [['activity', '--since', 'now', '--from', 'end'], /--from and --since both set the start/],
    [['activity', '--bus', 'kafka'], /no broker is configured; set --bootstrap-server HOST:9092/],
  ])('refuses %j and names the accepted values', async (args, words) => {
    const { code, out, errors } = await commands.run(['tail', ...args])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(errors).toMatch(words)
  })
})
