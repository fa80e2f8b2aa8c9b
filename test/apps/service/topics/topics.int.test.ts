// `weir topics` from a shell, against a real broker.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import kafkajs from 'kafkajs'
import '../../../../shared/bus/kafka/driver.ts' // its patch: no timers in the past
import { brokerStartMs, sharedBroker } from '../../../support/kafka/broker.ts'
import { type CommandFolder, type Ended, openCommandFolder } from '../../../support/weir-command.ts'

const commandMs = 60_000

let commands: CommandFolder
let broker: string
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-topics-'))
  broker = (await sharedBroker()).bootstrapServers
  commands = await openCommandFolder(() => {
    throw new Error('nobody asks a model')
  })
}, brokerStartMs)
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await commands?.close()
})

const topics = (...args: string[]): Promise<Ended> => commands.run(['topics', ...args])
const onBroker = () => [
  '--bootstrap-server',
  broker,
  '--topic-prefix',
  `cli-${process.pid}.`,
  '--replication-factor',
  '1',
]

describe('weir topics plan', () => {
  it('shows topics, reasons and lines without a broker', async () => {
    const { code, out } = await topics(
      'plan',
      '--topic-prefix',
      'mine.',
      '--partitions',
      '2',
      '--retention-days',
      '9',
    )
    expect(code).toBe(0)
    expect(out).toMatch(/^mine\.activity +log +2 +brokers' default +9 days$/m)
    expect(out).toMatch(/^mine\.history +table +2 +brokers' default +newest of each key$/m)
    expect(out).toContain(
      "message.timestamp.type=LogAppendTime  (all)\n    a record's time is the broker's, never a writer's\n",
    )
    expect(out).toContain(
      'kafka-topics.sh --bootstrap-server HOST:9092 --create --if-not-exists --topic mine.activity --partitions 2 --config ',
    )
  })

  it('plans the topics of named guards like those of any log', async () => {
    const { code, out } = await topics(
      'plan',
      '--topic-prefix',
      'mine.',
      '--partitions',
      '2',
      '--guard',
      'shell',
      '--guard',
      'spend',
    )
    expect(code).toBe(0)
    expect(out).toMatch(/^mine\.guard-verdicts\.shell +log +2 +brokers' default +7 days$/m)
    expect(out).toMatch(
      /--create --if-not-exists --topic mine\.guard-verdicts\.spend --partitions 2 .*message\.timestamp\.type=LogAppendTime/,
    )
    expect(await topics('plan', '--guard', 'No!')).toMatchObject({
      code: 2,
      errors: expect.stringContaining("--guard is 'No!'"),
    })
  })

  it('refuses a bus that creates its own topics', async () => {
    expect((await topics('plan', '--bus', 'kafka', '--bootstrap-server', 'one:9092')).code).toBe(0)
    expect(await topics('check', '--bus', 'embedded')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('weir topics is for Kafka'),
    })
  })

  it('prints the plan as JSON, with the connection in its lines and without secrets', async () => {
    const secret = ['--command-property', 'ssl.key.password=hunter2']
    const { out } = await topics(
      'plan',
      '--json',
      '--bootstrap-server',
      'one:9092',
      '--command-config',
      'client.properties',
      ...secret,
    )
    const { topics: planned, lines } = JSON.parse(out)
    expect(planned).toHaveLength(17)
    expect(planned[0].configEntries[0]).toEqual({
      name: 'cleanup.policy',
      value: 'delete',
      reason: expect.any(String),
    })
    expect(lines[0]).toMatch(
      /^kafka-topics\.sh --bootstrap-server one:9092 --command-config client\.properties --create /,
    )
    expect(out).not.toContain('hunter2')
  })

  it('refuses a retention shorter than the longest turn and the tolerated downtime', async () => {
    const { code, errors } = await topics('plan', '--retention-days', '1')
    expect(code).toBe(2)
    expect(errors).toContain('set retentionDays to at least')
  })
})

describe('weir topics create and check', () => {
  it(
    'name missing topics, create them once, and then find all correct',
    async () => {
      const missing = await topics('check', ...onBroker())
      expect(missing.code).toBe(1)
      expect(
        missing.out.match(/: topic is missing, and must be there\n {4}weir topics create\n/g),
      ).toHaveLength(17)

      const created = await topics('create', ...onBroker())
      expect(created).toMatchObject({ code: 0, errors: '' })
      expect(created.out.match(/^created cli-/gm)).toHaveLength(17)
      const again = await topics('create', ...onBroker(), '--json')
      expect(JSON.parse(again.out)).toEqual({ created: [], differences: [] })
      expect(await topics('check', ...onBroker())).toMatchObject({
        code: 0,
        out: '17 topics, all as Weir needs them\n',
      })
    },
    5 * commandMs,
  )

  it(
    'report a topic that differs with the remedy, and do not change it',
    async () => {
      const prefix = `differs-${process.pid}.`
      const args = [
        '--bootstrap-server',
        broker,
        '--topic-prefix',
        prefix,
        '--replication-factor',
        '1',
      ]
      const admin = new kafkajs.Kafka({
        brokers: broker.split(','),
        logLevel: kafkajs.logLevel.NOTHING,
      }).admin()
      await admin.connect()
      await admin.createTopics({
        waitForLeaders: false,
        topics: [{ topic: `${prefix}history`, numPartitions: 1 }],
      })
      await admin.disconnect()
      for (const command of ['create', 'check']) {
        const { code, out } = await topics(command, ...args)
        expect(code).toBe(1)
        expect(out).toContain(
          `${prefix}history: partitions is 1, and must be 4\n    all topics keep the number that the log began with`,
        )
        expect(out).not.toMatch(/set partitions/)
        expect(out).toMatch(
          new RegExp(
            `${prefix}history: cleanup.policy is delete, and must be compact\\n {4}kafka-configs.sh .* --add-config cleanup.policy=compact`,
          ),
        )
      }
    },
    5 * commandMs,
  )

  it(
    'report an unreachable broker, a missing broker and bad properties',
    async () => {
      const nobody = await topics('check', '--bootstrap-server', 'localhost:1')
      expect(nobody).toMatchObject({ code: 2, out: '' })
      expect(nobody.errors).toContain('no broker could be reached')
      const unnamed = await topics('check')
      expect(unnamed).toMatchObject({ code: 2, out: '' })
      expect(unnamed.errors).toContain('set --bootstrap-server HOST:9092')
      const file = join(folder, 'client.properties')
      writeFileSync(file, 'acks=all\nsecurity.protocl=SSL')
      const misspelled = await topics(
        'check',
        '--bootstrap-server',
        'localhost:1',
        '--command-config',
        file,
      )
      expect(misspelled).toMatchObject({ code: 2, out: '' })
      expect(misspelled.errors).toContain(
        `${file}:2 security.protocl: is not a property of a Kafka client; did you mean security.protocol?`,
      )
    },
    2 * commandMs,
  )

  it(
    'report ignored properties',
    async () => {
      const { code, errors } = await topics('check', ...onBroker(), '--command-property', 'acks=1')
      expect(code).toBe(0)
      expect(errors).toContain('--command-property acks is ignored: Weir always writes in order')
    },
    commandMs,
  )
})
