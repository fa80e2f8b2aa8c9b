// Bundles of real runs: the stages on the embedded bus, a scripted model over real HTTP, real
// processes as tools.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type ExportOptions, exportBundle } from '../../../../apps/bundles/export/export.ts'
import { recordsOf } from '../../../../apps/history/inspect/recorded.ts'
import { timelineOf } from '../../../../apps/history/inspect/timeline-of.ts'
import { type OpenLog, withLog } from '../../../../apps/history/open-log.ts'
import { type Bundle, refuseCutTurns } from '../../../../shared/bus/bundle/bus.ts'
import type { BundleTurn } from '../../../../shared/bus/bundle/format.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { messageOf } from '../../../../shared/codec/message-of.ts'
import type { Bus, RecordToAppend } from '../../../../shared/contract/bus.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { partitionOf } from '../../../../shared/contract/partition.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { type TopicName, topics } from '../../../../shared/contract/topology.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { userMessage } from '../../../support/messages.ts'
import { output } from '../../../support/output.ts'
import { type Pipeline, type PipelineOptions, withPipeline } from '../../../support/pipeline.ts'
import { refoldLog } from '../../../support/refold-log.ts'
import { always, call, says, script, text } from '../../../support/script.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-export-'))
  file = join(folder, 'incident.weir')
})
afterEach(() => rmSync(folder, { recursive: true }))

type World = Pipeline & { settings: Settings }

/** The model loops for the message `loop`, and calls a tool once for any other. */
async function run(
  test: (world: World) => Promise<void>,
  scripted?: PipelineOptions['model'],
  wrapped: (bus: Bus) => Bus = (bus) => bus,
): Promise<void> {
  const loop = always(() => says(call('exec', {})))
  let settings: Settings | undefined
  await withPipeline(
    {
      model(request, number) {
        if (scripted !== undefined) return scripted(request, number)
        const said = JSON.stringify(request.messages)
        if (said.includes('loop')) return loop(request)
        return said.includes('tool_result')
          ? says(text(`done ${number}`))
          : says(call('exec', { command: 'ls' }))
      },
      async openBus(to) {
        settings = readSettings({ dataFolder: to }, {})
        return wrapped(await openEmbeddedBus({ file: join(to, 'weir.db'), clock: systemClock }))
      },
    },
    async (pipeline) => test({ ...pipeline, settings: settings as Settings }),
  )
}

async function exported(
  { settings }: World,
  options: Partial<ExportOptions> = {},
): Promise<string> {
  const { stream, text } = output()
  expect(await exportBundle({ output: file, ...options }, settings, stream)).toBe(0)
  return text()
}

function look<T>({ settings }: World, see: (log: OpenLog) => Promise<T>): Promise<T> {
  return withLog(settings, see, { bundle: file })
}

function turnsIn(world: World): Promise<BundleTurn[]> {
  return look(world, async ({ bundle }) => [...(bundle?.turns() ?? [])])
}

/** A bus that does not write an append as a whole, and a gateway that dies before it writes a part. */
function withoutParts(bus: Bus): Bus {
  const isPart = ({ value }: RecordToAppend) => messageOf(value)?.type === 'part'
  return {
    ...bus,
    appendsWhole: false,
    append: async (records, options) =>
      bus.append(
        records.filter((one) => !isPart(one)),
        options,
      ),
  }
}

const messagesIn = (topic: TopicName) => async (log: OpenLog) => {
  const messages: Message[] = []
  for (const { partition, begin, end } of await log.bus.ends(log.topicPrefix + topic)) {
    const place = { topic: log.topicPrefix + topic, partition, from: begin, to: end }
    const records = await log.bus.read({ ...place, limit: 100_000 })
    messages.push(...records.flatMap(({ value }) => messageOf(value) ?? []))
  }
  return messages
}

/** All keys of all records, except those of policies. */
async function keysIn(log: OpenLog): Promise<Set<string>> {
  const keys = new Set<string>()
  for (const topic of Object.keys(topics) as TopicName[])
    for (const { partition, begin, end } of await log.bus.ends(log.topicPrefix + topic))
      for (const record of await log.bus.read({
        topic: log.topicPrefix + topic,
        partition,
        from: begin,
        to: end,
        limit: 100_000,
      }))
        keys.add(record.key)
  return keys
}

describe('weir export', () => {
  it('keeps all that an inspection shows, and every stage derives the same records from it', async () => {
    await run(async (world) => {
      await world.ask('please loop', { conversation: 'bad' })
      await world.ask('hello', { conversation: 'good' })
      await world.ask('again', { conversation: 'good' })
      expect(await exported(world)).toContain('2 conversations, 3 turns')
      const shown = (log: OpenLog) =>
        recordsOf('good', log).then((records) => timelineOf('good', records, { reasoning: true }))
      expect(await look(world, shown)).toEqual(await withLog(world.settings, shown))
      const { compared, missing, differing } = await look(world, refoldLog)
      expect({ missing, differing }).toEqual({ missing: [], differing: [] })
      expect(compared).toBeGreaterThan(50)
    })
  })

  it('exports whole turns of a period with their history, and no other conversation', async () => {
    await run(async (world) => {
      await world.ask('first', { conversation: 'good' })
      await world.ask('somebody else', { conversation: 'other' })
      const since = new Date(systemClock.now() + 1).toISOString()
      await new Promise((resolve) => setTimeout(resolve, 5))
      await world.ask('second', { conversation: 'good' })
      expect(await exported(world, { since })).toContain('1 conversation, 1 turn,')
      expect([...(await look(world, keysIn))].filter((key) => key.includes('other'))).toEqual([])
      const history = await look(world, (log) =>
        log.bus.list({
          topic: 'weir.history',
          partition: partitionOf('good', log.partitions),
          prefix: '["good",',
        }),
      )
      expect(history).toHaveLength(5) // of both turns: the message, and two rounds of the first, one of the second
      const { missing, differing } = await look(world, refoldLog)
      expect({ missing, differing }).toEqual({ missing: [], differing: [] })
    })
  })

  it('marks a turn as whole despite a record with its key in another partition', async () => {
    await run(async (world) => {
      const { bus, topicPrefix, partitions } = world.wiring
      const partition = (partitionOf('good', partitions) + 1) % partitions
      const message = userMessage({ conversation: 'good', messageId: 'stray' })
      for (let n = 0; n < 3; n += 1)
        await bus.append([
          toRecord({ topic: `${topicPrefix}conversation-events`, partition, message }),
        ])
      await world.ask('first', { conversation: 'good' })
      expect(await exported(world)).not.toContain('no longer')
      expect(await turnsIn(world)).toMatchObject([{ conversation: 'good', whole: true }])
    })
  })

  it('exports the turns whose endings match', async () => {
    await run(async (world) => {
      await world.ask('hello', { conversation: 'good' })
      const { policy } = world.agent.settings
      policy.loop = { ...policy.loop, schemaFailureEndsTurn: true } // other files share the old one
      await world.ask('please loop', { conversation: 'bad' })
      await exported(world, { where: ['failureClass=deterministic'] })
      expect(
        (await turnsIn(world)).map(({ conversation, failureClass }) => [
          conversation,
          failureClass,
        ]),
      ).toEqual([['bad', 'deterministic']])
      await exported(world, { where: ['call=denied'], force: true })
      expect((await turnsIn(world)).map(({ conversation }) => conversation)).toEqual(['bad'])
      await expect(
        exportBundle(
          { output: file, where: ['cap=calls'], force: true },
          world.settings,
          output().stream,
        ),
      ).rejects.toMatchObject({
        code: 'conversation.unknown',
        message:
          'no turn of any conversation in the log matches. The turns of this log have no cap. To list the conversations, run weir conversations',
      })
      await expect(
        exportBundle(
          { output: file, where: ['failureClass=no_progress'], force: true },
          world.settings,
          output().stream,
        ),
      ).rejects.toThrow(
        /in the log matches\. The turns of this log have failureClass deterministic\. To list .* weir conversations/,
      )
      expect((await turnsIn(world)).length).toBe(1) // the old file stays until the new one is complete
    })
  })

  it('does not overwrite a file, and leaves no file after an error', async () => {
    await run(async (world) => {
      await world.ask('hello')
      await exported(world, { conversation: ['c'] })
      const again = exportBundle({ output: file }, world.settings, output().stream)
      await expect(again).rejects.toMatchObject({ code: 'output.exists' })
      await exported(world, { force: true })
      rmSync(file)
      const unknown = exportBundle(
        { output: file, conversation: ['nobody'] },
        world.settings,
        output().stream,
      )
      await expect(unknown).rejects.toMatchObject({ code: 'conversation.unknown' })
      expect(existsSync(file)).toBe(false)
      expect(readdirSync(folder)).toEqual([])
    })
  })

  it('replaces the values of rules in all places, and the file holds none of them', async () => {
    const rules = join(folder, 'rules.yaml')
    const pointer = "- { name: customer, tool: 'ex*', pointer: /customer/name }"
    writeFileSync(
      rules,
      `rules:\n  ${pointer}\n  - { name: mail, pattern: '[a-z]+@[a-z.]+' }\n  - { name: pin, in: user, pattern: '\\b\\d{3}\\b', replace: length }\n`,
    )
    const command = 'tell ada@example.org of Ada "L." Lovelace'
    const replies = script(
      says(call('exec', { command, customer: { name: 'Ada "L." Lovelace' } })),
      says(text('Ada "L." Lovelace knows, 123 times.')),
    )
    await run(async (world) => {
      await world.ask('write to ada@example.org, PIN 123', { conversation: 'c', messageId: 'm1' })
      expect(await exported(world, { redact: rules })).toContain(
        'redacted, so a replay can decide differently',
      )
      const bytes = readFileSync(file).toString('latin1')
      for (const secret of ['Lovelace', 'ada@', 'PIN 1', '123 times'])
        expect(bytes.includes(secret)).toBe(false)
      const [turn] = (
        await look(world, async (log) =>
          timelineOf('c', await recordsOf('c', log), { reasoning: true }),
        )
      ).turns
      const [, mail = ''] = /^write to (mail-[0-9a-f]{12}), PIN xxxx$/.exec(turn?.text ?? '') ?? []
      const [, name = ''] =
        /^(customer-[0-9a-f]{12}) knows, xxxx times\.$/.exec(
          turn?.rounds[1]?.response?.text ?? '',
        ) ?? []
      expect(turn?.rounds[0]?.calls[0]?.rawArguments).toBe(
        JSON.stringify({ command: `tell ${mail} of ${name}`, customer: { name } }),
      )
      expect(turn?.rounds[0]?.calls[0]?.result?.text).toBe(`ran: tell ${mail} of ${name}`)
      expect(await look(world, async ({ bundle }) => bundle?.facts.redaction)).toBe(
        'customer, mail, pin',
      )

      writeFileSync(rules, 'rules: [{ name: tool, pattern: ran }]')
      await exported(world, { bundle: file, redact: rules, force: true }) // a bundle of the bundle
      expect(await look(world, async ({ bundle }) => bundle?.facts)).toMatchObject({
        source: 'embedded',
        redaction: 'customer, mail, pin, tool',
      })
    }, replies)
  })

  it('keeps the parts that only the end of an attempt has, redacted, so a replay misses none', async () => {
    const rules = join(folder, 'rules.yaml')
    writeFileSync(rules, 'rules: [{ name: mail, pattern: "[a-z]+@example[.]org" }]')
    const said = 'Write to ada@example.org now.'
    const answer = (_: unknown, number: number) =>
      number === 1 ? says(text('Ask '), text(said), call('exec', { to: said })) : says(text(said))
    await run(
      async (world) => {
        await world.ask('hello', { conversation: 'good' })
        await exported(world, { redact: rules })
        const deltas = await look(world, messagesIn('model-deltas'))
        expect(deltas.filter((one) => one.type === 'part')).toEqual([])
        const ends = deltas.filter((one) => one.type === 'model-finished')
        expect(ends.map(({ rest }) => rest.length > 0)).toEqual([true, true])
        const { missing, differing } = await look(world, refoldLog)
        // The detector's digests are those of other arguments.
        const others = differing.filter((id) => !id.startsWith('loop-detector/'))
        expect({ missing, others }).toEqual({ missing: [], others: [] })
      },
      answer,
      withoutParts,
    )
    const bytes = readFileSync(file, 'latin1')
    expect(bytes).not.toContain('ada@example')
    expect(bytes).toMatch(/Ask Write to mail-[0-9a-f]+ now/)
  })

  it('names the rules that it cannot use', async () => {
    const rules = join(folder, 'rules.yaml')
    const settings = readSettings({ dataFolder: folder }, {})
    for (const [content, told] of [
      ['rules: []', 'has no rules'],
      ['rules: [{ name: a, pattern: "(" }]', 'rules[0].pattern is no regular expression'],
      ['rules: [{ name: a, pattern: b, point: /c }]', 'did you mean pointer?'],
      ['rules: [{ name: a }]', 'needs either a pattern or a pointer'],
      ['rules: [{ name: a, pattern: b, in: everywhere }]', 'must be of user, text'],
    ] as const) {
      writeFileSync(rules, content)
      const refused = exportBundle({ output: file, redact: rules }, settings, output().stream)
      await expect(refused).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining(told),
      })
    }
  })

  it('exports queued turns together, and a named conversation as a whole', async () => {
    await run(async (world) => {
      const first = world.ask('one', { conversation: 'c' })
      const until = new Date(systemClock.now() + 60_000).toISOString()
      await Promise.all([first, world.ask('two', { conversation: 'c' })])
      expect(await exported(world, { until })).toContain('1 conversation, 2 turns,')
      const { missing, differing } = await look(world, refoldLog)
      expect({ missing, differing }).toEqual({ missing: [], differing: [] })
      expect(await exported(world, { conversation: ['c'], force: true })).toContain(
        '1 conversation, 2 turns,',
      )
    })
  })

  it('exports and reports an open turn and a turn without its beginning', async () => {
    const settings = readSettings({ dataFolder: folder }, {})
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    await bus.ensureTopics(topicSpecs('weir.', 1))
    const write = (topic: TopicName, message: Message) =>
      bus.append([toRecord({ topic: `weir.${topic}`, partition: 0, message })])
    await write('conversation-events', userMessage({ conversation: 'open' }))
    await write('activity', {
      type: 'turn-started',
      parent: null,
      conversation: 'open',
      turn: 0,
      messageId: 'm1',
      agent: 'agent',
    })
    await write('activity', {
      type: 'round-started',
      conversation: 'cut',
      turn: 7,
      round: 3,
      callsLeft: 9,
      nudged: false,
      caps: null,
      key: '',
      turnKey: '',
    })
    await bus.close()
    const told = async (conversation: string) => {
      const { stream, text } = output()
      await exportBundle(
        { output: file, conversation: [conversation], force: true },
        settings,
        stream,
      )
      return text()
    }
    expect(await told('open')).toContain('1 turn had not ended')
    expect(await told('cut')).toContain('the log no longer has the beginning of 1 turn')
    await withLog(
      settings,
      async ({ bundle }) =>
        expect(() => refuseCutTurns(bundle as Bundle)).toThrow(
          'lacks the beginning of the turn at offset 7 of cut',
        ),
      {
        bundle: file,
      },
    )
  })
})
