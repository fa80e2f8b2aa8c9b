// A program with stages on Kafka, on a log whose format in force is too new for this version.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { joinFleet } from '../../../client/place/fleet.ts'
import { openBus } from '../../../client/place/open-bus.ts'
import { Weir } from '../../../client/weir.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { ownFormat } from '../../../shared/codec/codec.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { readSettings, type Settings } from '../../../shared/settings/settings.ts'
import { brokerStartMs, sharedBroker } from '../../support/kafka/broker.ts'
import { says, text } from '../../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../../support/weir-command.ts'

const log = pino({ level: 'silent' })
const topicPrefix = `apart-${randomUUID().slice(0, 8)}.`
const policies = { topic: `${topicPrefix}policies`, partition: 0 }
let settings: Settings
let commands: CommandFolder

beforeAll(async () => {
  const { bootstrapServers: bootstrapServer } = await sharedBroker()
  commands = await openCommandFolder(() => says(text('All is well.')))
  settings = readSettings({ bus: 'kafka', bootstrapServer, topicPrefix }, {})
  const bus = await openBus(settings, log)
  await bus.ensureTopics(topicSpecs(topicPrefix, 1))
  const format = { format: ownFormat + 2, isPinned: true, setBy: 'anna', setAt: 1 }
  await bus.append([
    toRecord({ ...policies, message: { type: 'partition-count', partitions: 1 } }),
    toRecord({ ...policies, message: { type: 'fleet-format', ...format } }),
  ])
  await bus.close()
}, brokerStartMs)

afterAll(() => commands?.close())

it('a start compares the formats although the broker goes away between two requests', async () => {
  const bus = await openBus(settings, log)
  let lists = 0
  const list: typeof bus.list = async (...asked) => {
    lists += 1
    if (lists <= 2) throw new WeirError('bus.unreachable', 'no broker answers', { retryable: true })
    return bus.list(...asked)
  }
  const joining = joinFleet({ bus: { ...bus, list }, settings, log })
  await expect(joining).rejects.toMatchObject({ code: 'fleet.apart' })
  expect(lists).toBeGreaterThan(2)
  await bus.close()
})

it('a program two formats away from its fleet is refused before one of its stages joins a group', async () => {
  const opening = Weir.open({
    agents: join(commands.folder, 'agent.yaml'),
    dataFolder: join(commands.folder, 'program'),
    log,
    topicPrefix,
    stages: 'here',
    bus: { kind: 'kafka', bootstrapServer: settings.bootstrapServer },
  })
  await expect(opening).rejects.toMatchObject({ code: 'fleet.apart' })
  const kind = busKindOf(settings)
  if (kind.isLocal) throw new Error('Kafka is no local bus')
  const groups = await kind.groups(settings, log)
  expect((await groups.names(topicPrefix)).groups).toEqual([])
})
