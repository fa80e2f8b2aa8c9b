// `weir replay` as a command: its output, exit codes and errors.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { type ReplayOptions, replay } from '../../../apps/replay/replay.ts'
import { openBundle } from '../../../shared/bus/bundle/bus.ts'
import { createBundle } from '../../../shared/bus/bundle/writer.ts'
import { decode, encode } from '../../../shared/codec/codec.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { output } from '../../support/output.ts'
import { weirCommand } from '../../support/programs.ts'
import { type BundleName, bundleFile } from './bundled-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-replay-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** `columns`: of a terminal. Undefined: there is none. */
async function run(
  bundle: BundleName | { file: string },
  options: ReplayOptions = {},
  columns?: number,
): Promise<{ code: number; text: string }> {
  const { stream, text } = output()
  if (columns !== undefined)
    Object.assign(stream, { isTTY: true, columns, getColorDepth: () => 1, hasColors: () => false })
  const file = typeof bundle === 'string' ? bundleFile(bundle) : bundle.file
  const code = await replay(file, options, readSettings({}, {}), stream)
  return { code, text: text() }
}

/** An older Weir wrote it, and no intervention answers the third round. */
function forgedMessage(message: Message): Message {
  if (message.type === 'attempt-started') return { ...message, weir: '0.1.0' }
  const isThird = message.type === 'round-outcome' && message.round === 3
  return isThird ? { ...message, intervention: null } : message
}

/**
 * The bundle of I1 as an older Weir could have written it. `whole`: false: as if the log no longer
 * had its beginning.
 */
async function forged({ whole = true } = {}): Promise<{ file: string }> {
  const file = join(folder, 'forged.weir')
  const from = await openBundle(bundleFile('i1-reflex-loop'), systemClock)
  const to = createBundle(file, { force: true })
  for (const { name, kind } of from.topics()) {
    to.topic(name, kind)
    const topic = from.facts.topicPrefix + name
    for (const { partition, end } of await from.bus.ends(topic))
      for (const record of await from.bus.read({
        topic,
        partition,
        from: 0,
        to: end,
        limit: 10_000,
      })) {
        const message = decode(record.value as Uint8Array)
        const changed = forgedMessage(message)
        to.add({ ...record, topic: name, ...(changed !== message && { value: encode(changed) }) })
      }
  }
  for (const turn of from.turns()) to.turn({ ...turn, whole })
  await to.finish(from.facts)
  await from.bus.close()
  return { file }
}

async function turnBegan(name: BundleName): Promise<number> {
  const { bus, turns } = await openBundle(bundleFile(name), systemClock)
  const [first] = turns()
  await bus.close()
  return first?.beganAt ?? Number.NaN
}

describe('weir replay', () => {
  it('reports equal decisions with exit code 0', async () => {
    const { code, text } = await run('i5-broken-schema')
    expect(code).toBe(0)
    expect(text).toMatch(/^The same: \d+ records read, 1 turn, \d+ decisions again as in the log/)
  })

  it('shows the first difference with both records and the input, with exit code 1', async () => {
    const { code, text } = await run(await forged())
    expect(code).toBe(1)
    expect(text).toContain('loop-detector writes this round-outcome differently')
    expect(text).toMatch(/input {6}weir\.rounds-checked\/\d+\/\d+, round-checked of i1-reflex-loop/)
    expect(text).toMatch(
      /≠ intervention\n +log +null\n +replay +\{"action":"nudge",.*"evidence":\[.*\]\}\n/,
    )
    expect(text).toMatch(
      /the same in both: .*turn 0, round 3.*; all of response, results, policy\n/,
    )
    expect(text).toMatch(/The input record\n.*\n +type +"round-checked"/)
    expect(text).toContain('--full shows the records whole')
  })

  it('cuts the input to the width of a terminal, and never in a pipe', async () => {
    const file = await forged()
    const policyIn = (text: string) =>
      /The input record\n.*\n {4}policy +(\{.*)\n/s.exec(text)?.[1]?.split('\n', 1)[0] ?? ''
    const [piped, shown] = [
      policyIn((await run(file)).text),
      policyIn((await run(file, {}, 120)).text),
    ]
    expect(JSON.parse(piped)).toHaveProperty('caps')
    expect(shown).toMatch(/^\{.*…$/)
    expect(piped.startsWith(shown.slice(0, -1))).toBe(true)
  })

  it('names turns of a bundle without their beginning', async () => {
    expect((await run(await forged({ whole: false }))).text).toContain(
      'the bundle lacks the beginning of 1 turn, which are not counted: turn 1 of i1-reflex-loop',
    )
    expect((await run('i1-reflex-loop')).text).not.toContain('lacks the beginning')
  })

  it('shows whole records with --full', async () => {
    const { text } = await run(await forged(), { full: true })
    const [, log, replayed] =
      /The record in the log\n(.*?)\n\nThe record of the replay\n(.*?)\n\nThe input record\n/s.exec(
        text,
      ) ?? []
    expect(JSON.parse(log ?? '')).toMatchObject({
      key: 'i1-reflex-loop',
      type: 'round-outcome',
      intervention: null,
    })
    expect(JSON.parse(replayed ?? '')).toMatchObject({
      round: 3,
      intervention: { rule: 'identical-failure' },
    })
  })

  it('prints the same as JSON', async () => {
    const { text } = await run(await forged(), { json: true })
    const said = JSON.parse(text)
    expect(said).toMatchObject({
      same: false,
      turns: 1,
      first: {
        kind: 'differs',
        stage: 'loop-detector',
        causes: [expect.stringMatching(/^code version differs: Weir 0\.1\.0 wrote the log/)],
      },
    })
    expect(said.first.logged.message.intervention).toBeNull()
    expect(said.first.replayed.message.intervention.rule).toBe('identical-failure')
    expect(said.first.differs).toEqual([
      { path: 'intervention', log: null, replay: said.first.replayed.message.intervention },
    ])
    expect(said.first.input.message.type).toBe('round-checked')
  })

  it('reports the first decision that another threshold changes, and nothing after it', async () => {
    const { code, text } = await run('i1-reflex-loop', { set: ['loop.identicalFailures=2'] })
    expect(code).toBe(0)
    expect(text).toContain('i1-reflex-loop, turn 1, round 2')
    expect(text).toContain('would be a nudge by identical-failure@5')
    expect(text).toContain('unknown from here; saves at most 3 rounds')
    expect(text).toContain('1 of 1 conversation would have gone another way')
  })

  it('prints whole reasons, and cuts them only on a terminal', async () => {
    const whole =
      "by identical-failure@5: exec({}) failed in 2 rounds, last with: missing required field 'command'\n"
    const options = { set: ['loop.identicalFailures=2'] }
    expect((await run('i1-reflex-loop', options)).text).toContain(whole)
    expect((await run('i1-reflex-loop', options, 60)).text).toMatch(
      /^ {2}would be a nudge by identical-failure@5: exec\(\{\}\) failed …$/m,
    )
    expect((await run('i1-reflex-loop', options, 60)).text).toContain(
      '--full shows the reasons whole',
    )
    expect((await run('i1-reflex-loop', { ...options, full: true }, 60)).text).toContain(whole)
  })

  it('reads a policy from a file, and applies --set on top', async () => {
    const policy = join(folder, 'policy.yaml')
    writeFileSync(
      policy,
      'loop: { identicalFailures: 9, schemaFailures: 9, rules: { cycle: shadow } }\ncaps: { rounds: 2 }\n',
    )
    const { text } = await run('i1-reflex-loop', { policy, set: ['caps.rounds=25'], json: true })
    expect(JSON.parse(text).changes).toMatchObject([{ round: 3, is: null }])
  })

  it.each([
    [
      'an agent file',
      'name: ours\nmodel: { provider: anthropic, name: claude }\nempty:\nloop: { identicalFailures: 2 }\n',
    ],
    ['a file of weir policy set', '{ "loop.identicalFailures": 2, "rule.cycle": "shadow" }'],
  ])('reads a policy from %s', async (_, content) => {
    const policy = join(folder, 'given.yaml')
    writeFileSync(policy, content)
    const { text } = await run('i1-reflex-loop', { policy, json: true })
    expect(JSON.parse(text).changes).toMatchObject([
      { round: 2, is: { rule: 'identical-failure@5' } },
    ])
  })

  it.each([
    [
      'a section that is misspelled',
      'lop: { identicalFailures: 2 }',
      /an agent file has no "lop"; did you mean loop\?/,
    ],
    [
      'an agent file without any of it',
      'name: ours\nmodel: { provider: anthropic, name: claude }\n',
      /sets nothing\. The sections loop, empty and caps of an agent file count/,
    ],
    ['a list', '[2]', /sets nothing/],
    ['a section that is none', 'caps: 3', /caps is 3; must have a value for each key/],
    [
      'a threshold that there is none of',
      'loop: { identicalFalures: 2 }',
      /did you mean loop\.identicalFailures/,
    ],
    [
      'one threshold twice',
      'loop.identicalFailures: 2\nloop: { identicalFailures: 3 }',
      /loop\.identicalFailures is given twice, as "2" and as "3"/,
    ],
  ])('refuses a policy with %s', async (_, content, words) => {
    const policy = join(folder, 'bad.yaml')
    writeFileSync(policy, content)
    await expect(run('i1-reflex-loop', { policy })).rejects.toThrow(words)
  })

  it('accepts a threshold in the singular, and prints its real name', async () => {
    const { text } = await run('i1-reflex-loop', { set: ['loop.identicalFailures=1'] })
    expect(text).toMatch(/^What if loop\.identicalFailures=1 had been in force\n/)
    expect(text).toContain('exec({}) failed in 1 round, last with')
  })

  it('names each good call that would have been refused', async () => {
    const { text } = await run('i3-no-termination', { set: ['loop.identicalSuccesses=2'] })
    expect(text).toMatch(
      / {2}unknown from here; saves at most 5 rounds, [\d,]+ tokens in that turn\n/,
    )
    expect(text).toMatch(
      /\nsaved at most {3}5 rounds, [\d,]+ tokens in that turn; later turns are unknown\n/,
    )
    expect(text).toContain('false alarms    3 calls that had succeeded would have been denied:')
    expect(text).toMatch(
      /weir\.rounds-checked\/\d+\/\d+ {2}lookup, call 0 of i3-no-termination, turn 1, round 4/,
    )
    expect(text).toContain(
      '3 of them only repeated a call of the same turn, with the same result: calls in a loop do that',
    )
  })

  it('sweeps a threshold into a table and a plot', async () => {
    const file = join(folder, 'plot.html')
    const { text } = await run('i3-no-termination', {
      sweep: 'loop.identicalSuccesses=2..6',
      output: file,
    })
    expect(text).toMatch(/ 2 +1 +≤ 5 +≤ \d+ +0 +3\n/)
    expect(text).toMatch(/ 5 +0 +≤ 0 +≤ 0 +0 +0\n/)
    expect(text).toMatch(/ 6 +1 +unknown +unknown +≥ 1 +0\n/)
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/)
    const again = run('i3-no-termination', { sweep: 'loop.identicalSuccesses=2..3', output: file })
    await expect(again).rejects.toMatchObject({ code: 'output.exists' })
    expect(readFileSync(file, 'utf8')).toContain('"value":6')
    await run('i3-no-termination', {
      sweep: 'loop.identicalSuccesses=2..3',
      output: file,
      force: true,
    })
    expect(readFileSync(file, 'utf8')).not.toContain('"value":6')
  })

  it.each<[string, ReplayOptions]>([
    ['a comparison', {}],
    ['a threshold', { set: ['loop.identicalFailures=2'] }],
    ['a sweep', { sweep: 'loop.identicalFailures=2..3' }],
  ])('fails if no turn began in the given time: %s', async (_, options) => {
    await expect(run('i1-reflex-loop', { ...options, since: '1s ago' })).rejects.toMatchObject({
      code: 'replay.nothing',
      message: expect.stringContaining('nothing in that time to judge'),
    })
  })

  it('fails if only earlier turns were read', async () => {
    const began = await turnBegan('i1-reflex-loop')
    await expect(
      run('i1-reflex-loop', { since: new Date(began + 1).toISOString() }),
    ).rejects.toMatchObject({
      code: 'replay.nothing',
      message: expect.stringMatching(
        /no turn began there, and \d+ records belong to earlier turns/,
      ),
    })
    expect(
      await run('i1-reflex-loop', { since: new Date(began - 1_000).toISOString() }),
    ).toMatchObject({ code: 0 })
  })

  it.each<[string, ReplayOptions, RegExp]>([
    [
      'an unknown threshold',
      { set: ['loop.identicalFalures=2'] },
      /did you mean loop\.identicalFailures/,
    ],
    [
      'a value out of bounds',
      { set: ['loop.identicalFailures=0'] },
      /must be a whole number from 1 to 1000/,
    ],
    [
      'a threshold that is given twice',
      { set: ['loop.identicalFailures=3', 'loop.identicalFailures=2'] },
      /given twice, as "3" and as "2"/,
    ],
    ['a sweep out of bounds', { sweep: 'loop.identicalFailures=990..1010' }, /from 1 to 1000/],
    [
      'a sweep of nothing',
      { sweep: 'loop.identicalFailures=6..2' },
      /write the lower value first: loop\.identicalFailures=2\.\.6/,
    ],
    [
      'a sweep beside a policy',
      { sweep: 'loop.cycleLaps=2..3', set: ['loop.cycleLaps=2'] },
      /tries one threshold alone/,
    ],
    ['a plot of nothing', { output: 'plot.html' }, /--output needs --sweep/],
    ['a time that is none', { since: 'yesterday-ish' }, /--since is/],
    [
      'a policy that is not there',
      { policy: '/nowhere/policy.yaml' },
      /--policy \/nowhere\/policy\.yaml/,
    ],
    [
      'a conversation that is not there',
      { conversation: 'nobody' },
      /nothing of a conversation "nobody"/,
    ],
  ])('refuses %s', async (_, options, words) => {
    await expect(run('i1-reflex-loop', options)).rejects.toThrow(words)
  })
})

describe('weir replay', () => {
  async function ended(args: string[]): Promise<{ code: number | null; errors: string }> {
    const child = spawn(weirCommand, ['replay', ...args], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text
    })
    const [code] = await once(child, 'close')
    return { code, errors }
  }

  it('exits with 2 for an empty log and for a file that is no bundle', async () => {
    writeFileSync(join(folder, 'no-bundle'), 'nothing of ours')
    const results = await Promise.all([ended(['--data-folder', 'none']), ended(['no-bundle'])])
    expect(results.map(({ code }) => code)).toEqual([2, 2])
    expect(results[0]?.errors).toContain('there is no log at')
  })
})
