// A topic that was deleted, or deleted and created again, on a real broker.

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import kafkajs, { type Admin } from 'kafkajs'
import { until } from '../../../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../../../support/kafka/broker.ts'
import { says, text } from '../../../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../../../support/weir-command.ts'
import { startUp } from '../../../support/weir-up.ts'

let broker: string
let admin: Admin
let prefix: string
let commands: CommandFolder

beforeAll(async () => {
  broker = (await sharedBroker()).bootstrapServers
  const log = { logLevel: kafkajs.logLevel.NOTHING }
  admin = new kafkajs.Kafka({ brokers: [broker], ...log }).admin()
  await admin.connect()
}, brokerStartMs)

afterAll(() => admin?.disconnect())

beforeEach(async () => {
  prefix = `recreated-${randomUUID().slice(0, 8)}.`
  commands = await openCommandFolder(() => says(text('All is well.')))
})

afterEach(() => commands.close())

const environment = () => ({
  WEIR_BUS: 'kafka',
  WEIR_BOOTSTRAP_SERVER: broker,
  WEIR_TOPIC_PREFIX: prefix,
})
const weir = (...args: string[]) => commands.run(args, { environment: environment() })

async function deleteTopic(name: string): Promise<void> {
  const topic = prefix + name
  await admin.deleteTopics({ topics: [topic] })
  await until(async () => !(await admin.listTopics()).includes(topic))
}

describe('a topic that is deleted', () => {
  it('makes its stage unready with the way out, and is refused when somebody creates the topic again', async () => {
    expect((await weir('topics', 'create', '--partitions', '1')).code).toBe(0)
    const args = ['--stages', 'loop-detector']
    const up = startUp(commands, { args, environment: environment() })
    await up.untilReady()
    await deleteTopic('rounds-checked')
    await until(async () => (await up.probe('/readyz')).status === 503)
    expect((await up.probe('/readyz')).text).toMatch(
      /there is no topic .*rounds-checked any more.*weir reset --all.*another prefix/,
    )
    up.signal('SIGTERM')
    await up.ended

    expect(await weir('topics', 'create')).toMatchObject({
      code: 2,
      errors: expect.stringMatching(
        /rounds-checked was deleted and created again.*weir reset --all/,
      ),
    })
    expect(await weir('up', ...args)).toMatchObject({
      code: 1,
      errors: expect.stringMatching(
        /rounds-checked was deleted and created again.*weir reset --all/,
      ),
    })
  }, 240_000)
})
