// Least rights on a real broker: SASL/SCRAM, StandardAuthorizer and one user per principal, with the
// rights that `weir topics acls` prints. A turn with a rejected call, a guard and an approval passes.
// Every write outside the rights is refused, and a missing right is named.

import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type AnthropicServer, startAnthropicServer } from '../../apps/demo/anthropic-server.ts'
import { topicsThere } from '../../apps/service/topics-there.ts'
import { type Edge, openEdge } from '../../client/edge/edge.ts'
import { openGuard } from '../../client/guard/guard.ts'
import { stagesOfGuests } from '../../client/guard/log/bus-front.ts'
import { fleetMembers } from '../../client/place/fleet.ts'
import { openBus } from '../../client/place/open-bus.ts'
import { openApprovals } from '../../services/approval/performer/approvals.ts'
import {
  approvalRegistration,
  setApprovalRules,
} from '../../services/approval/performer/registration.ts'
import { type RunningStages, startStages } from '../../services/stages.ts'
import {
  type AccessRight,
  accessOfAll,
  type PrincipalAccess,
  serverPrincipals,
} from '../../shared/bus/kafka/cluster/access-rights.ts'
import { topicsSignedBy } from '../../shared/bus/signing/principals.ts'
import { encode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { Guard } from '../../shared/contract/guard/guard.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { retentionMsOf, topicSpecs } from '../../shared/contract/retention.ts'
import {
  guardTopicName,
  type StageName,
  stageNames,
  type TopicName,
  topics,
} from '../../shared/contract/topology.ts'
import { registerGuard } from '../../shared/runtime/guards/guard-registry.ts'
import { type RunningGuards, startGuards } from '../../shared/runtime/guards/start-guards.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { readSettings, type Settings } from '../../shared/settings/settings.ts'
import { askEdge } from '../support/asked-turn.ts'
import { answerOf, requestOf, type Said, saidCall } from '../support/guest-requests.ts'
import { until } from '../support/inbox.ts'
import { brokerStartMs, startBroker } from '../support/kafka/broker.ts'
import type { Broker } from '../support/kafka/broker-options.ts'
import { brokerWithUsers, grant, loginAddress, loginProperties } from '../support/kafka/users.ts'
import { userMessage } from '../support/messages.ts'
import { recordedTool, testAgent } from '../support/pipeline.ts'
import { call, says, script, text } from '../support/script.ts'
import { waitMaxMs } from '../support/wait-limit.ts'

const topicPrefix = 'weir.'
const partitions = 2
const log = pino({ level: process.env.WEIR_TEST_LOG ?? 'silent' })
const folder = mkdtempSync(join(tmpdir(), 'weir-rights-'))
const access = accessOfAll(topicPrefix, ['no-removal'])

/** A user who lacks one right of a stage. */
type Lack = { user: string; stage: StageName; right: string; lacks(right: AccessRight): boolean }
const lack = (stage: StageName, operation: string, resource: string, name: string): Lack => ({
  user: `lacks-${operation}-${name}`,
  stage,
  right: `${operation} on ${resource} ${topicPrefix}${name}`,
  lacks: (right) => right.resource === resource && right.name === topicPrefix + name,
})
const lacks: Lack[] = [
  lack('validator', 'Read', 'topic', 'rounds-proposed'),
  lack('validator', 'Read', 'group', 'validator'),
  lack('validator', 'DescribeConfigs', 'topic', 'activity'),
  lack('validator', 'Describe', 'topic', 'history'),
  lack('validator', 'Write', 'topic', 'dead-letters'),
]

const noRemoval: Guard = {
  name: 'no-removal',
  version: '1',
  tools: ['exec'],
  deadlineMs: 30_000,
  onTimeout: 'deny',
  judge: (state, { calls }) => ({
    state,
    verdicts: calls.map(({ ordinal, arguments: { command } }) =>
      String(command).startsWith('rm')
        ? { ordinal, verdict: 'deny', code: 'removes', text: 'Nothing may be removed.' }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}

let broker: Broker
let server: AnthropicServer
const buses = new Map<string, Bus>()

beforeAll(async () => {
  const names = [...access.map(({ principal }) => principal), ...lacks.map(({ user }) => user)]
  broker = await startBroker(brokerWithUsers(names))
  await grant(broker, [...access, ...lacks.map(accessWithout)])
  const asOperator = await busAs('operator')
  await asOperator.ensureTopics(topicSpecs(topicPrefix, partitions))
}, brokerStartMs)
afterAll(async () => {
  for (const bus of buses.values()) await bus.close()
  await server?.close()
  await broker?.stop()
  rmSync(folder, { recursive: true })
})

/** The stage's rights without one: its operation only, or with `Describe` all of the resource. */
function accessWithout({ user, stage, right, lacks }: Lack): PrincipalAccess {
  const [operation] = right.split(' ')
  const { rights } = access.find(({ principal }) => principal === stage) as PrincipalAccess
  const left = rights.flatMap((one) => {
    if (!lacks(one)) return [one]
    const operations = one.operations.filter((each) => each !== operation)
    return operation === 'Describe' || operations.length === 0 ? [] : [{ ...one, operations }]
  })
  return { principal: user, rights: left }
}

function settingsAs(user: string): Settings {
  return readSettings(
    {
      bus: 'kafka',
      topicPrefix,
      dataFolder: join(folder, user),
      bootstrapServer: loginAddress(broker),
      commandProperty: loginProperties(user),
    },
    {},
  )
}

async function busAs(user: string): Promise<Bus> {
  const known = buses.get(user)
  if (known !== undefined) return known
  const bus = await openBus(settingsAs(user), log, { keepsTables: false })
  buses.set(user, bus)
  return bus
}

/** `allow Describe and DescribeConfigs on X` names both rights of a check. */
function rightInText(right: string): RegExp {
  const [operation, , , name] = right.split(' ')
  return new RegExp(`${operation}( and DescribeConfigs)? on ((topic|group) )?${name}`)
}

describe('one user per principal with the printed rights', () => {
  it('runs a turn with its text, a denied call, a veto and an approval', async () => {
    server = await startAnthropicServer(
      script(
        says(call('exec', {})),
        says(call('exec', { command: 'rm -r x' })),
        says(call('deploy', { command: 'now' })),
        says(text('Deployed.')),
      ),
    )
    const startsFile = join(folder, 'starts')
    const tools = () => [
      recordedTool({ name: 'exec', required: ['command'] }, startsFile),
      recordedTool({ name: 'deploy', required: ['command'] }, startsFile),
    ]
    const agent = testAgent(server.url, { tools }, startsFile)
    const operator = await busAs('operator')
    const retentionMs = retentionMsOf(7)
    const place = { topicPrefix, partitions, retentionMs }
    await registerGuard({
      bus: operator,
      ...place,
      guard: noRemoval,
      mode: 'enforce',
      replace: false,
    })
    const rules = [{ name: 'production', tools: ['deploy'] }]
    await setApprovalRules({ bus: operator, topicPrefix }, approvalRegistration({ rules }), 'test')

    const running: (RunningStages | RunningGuards)[] = []
    let edge: Edge | undefined
    try {
      const guardBus = await busAs('guard.no-removal')
      running.push(await startGuards({ bus: guardBus, ...place, guards: [noRemoval], log }))
      for (const stage of stageNames) {
        const bus = await busAs(stage)
        expect(await topicsThere({ bus, topicPrefix, setPartitions: undefined, log })).toBe(
          partitions,
        )
        const agents = new Map([[agent.name, agent]])
        running.push(await startStages({ bus, ...place, agents, log, names: [stage] }))
      }
      const failed = Promise.race(running.map((one) => one.failed))
      edge = openEdge({ bus: await busAs('edge'), topicPrefix, partitions })
      const question = { agent, conversation: 'c', messageId: 'm', text: 'deploy' }
      await edge.onParts('c', { onRecord: () => {}, onFailure: () => {} })
      const turn = askEdge(edge, question, AbortSignal.timeout(waitMaxMs))
      const approver = await busAs('approver')
      const approvals = openApprovals({
        bus: approver,
        topicPrefix,
        partitions,
        append: (records) => approver.append(records),
      })
      const seen: string[] = []
      for (;;) {
        const { value, done } = await Promise.race([turn.next(), failed])
        if (done) throw new Error(`the turn did not end: ${seen.join()}`)
        seen.push(value.type === 'call-finished' ? `call ${value.status}` : value.type)
        if (value.type === 'approval-pending') {
          const [waiting] = await approvals.waiting()
          await approvals.decide({ id: waiting?.id ?? '', answer: 'allow', by: 'ann' })
        }
        if (value.type === 'turn-finished') {
          expect(value).toMatchObject({ outcome: 'answered', messageId: 'm' })
          break
        }
      }
      expect(seen).toEqual(
        expect.arrayContaining(['call-denied', 'call denied', 'approval-decided', 'call ok']),
      )
      const { earlierAnswer } = edge
      await until(async () => {
        const answer = await earlierAnswer({ conversation: 'c', messageId: 'm' } as never)
        return answer?.finished?.outcome === 'answered'
      })
      expect((await readFile(startsFile, 'utf8')).trim().split('\n')).toHaveLength(1)
    } finally {
      edge?.close()
      await Promise.all(running.map((one) => one.close()))
    }
  }, 120_000)

  it('lets the user of the server write messages and decisions, and no setting', async () => {
    const bus = await busAs('serve')
    const write = (topic: TopicName, message: Message) =>
      bus.append([toRecord({ topic: topicPrefix + topic, partition: 0, message })])
    const conversation = 'unknown'
    await write('client-messages', { type: 'cancel-requested', conversation, messageId: 'm' })
    const place = { conversation, turn: 0, round: 1, ordinal: 0, input: 0 }
    const answer = { answer: 'deny', by: 'ann', identity: 'claimed', reason: '' } as const
    await write('approvals', {
      type: 'approval-answered',
      ...place,
      ...answer,
      id: 'unknown',
      hash: '',
      values: null,
    })
    await expect(
      bus.append([{ topic: `${topicPrefix}policies`, partition: 0, key: 'x', value: null }]),
    ).rejects.toThrow('Write on topic weir.policies')
  })

  it('judges a guest whose front is another user than the stages', async () => {
    const running: RunningStages[] = []
    try {
      for (const stage of stagesOfGuests)
        running.push(
          await startStages({
            bus: await busAs(stage),
            topicPrefix,
            partitions,
            log,
            names: [stage],
            agents: new Map(),
          }),
        )
      const guard = await openGuard({
        agent: 'coder',
        answerWithinMs: waitMaxMs,
        log,
        kafka: {
          topicPrefix,
          bootstrapServer: loginAddress(broker),
          properties: Object.fromEntries(
            loginProperties('front').map((line) => line.split(/=(.*)/).slice(0, 2)),
          ),
        },
      })
      try {
        const conversation = guard.conversation('t')
        const asked = (responses: Said[]) => requestOf('anthropic', [{ user: 'Go.', responses }])
        const said = saidCall('look', { at: '.' }, { id: 'c', result: 'a.ts' })
        expect(await conversation.afterModel(answerOf(asked([]), said))).toMatchObject([
          { callId: 'c', verdict: 'allow' },
        ])
        expect(await conversation.beforeModel(asked([said]))).toMatchObject({ judged: true })
        await conversation.endTurn()
      } finally {
        await guard.close()
      }
    } finally {
      await Promise.all(running.map((one) => one.close()))
    }
  }, 120_000)

  it('refuses every write outside the rights, and names the right', async () => {
    const all = [...Object.keys(topics), guardTopicName('no-removal')]
    const accepted: string[] = []
    for (const { principal } of access) {
      const bus = await busAs(principal)
      const writers = principal === 'serve' ? serverPrincipals.serve : [principal]
      const written = writers.flatMap(topicsSignedBy)
      const forbidden = all.filter((topic) => !written.includes(topic))
      const outcomes = await Promise.all(
        forbidden.map((topic) =>
          bus
            .append([
              {
                topic: topicPrefix + topic,
                partition: 0,
                key: 'c',
                value: encode(userMessage({ conversation: 'c' })),
              },
            ])
            .then(
              () => 'accepted',
              (error: Error) => error.message,
            ),
        ),
      )
      for (const [at, outcome] of outcomes.entries())
        if (!/Grant the permission (Write|Describe) on topic weir\./.test(outcome))
          accepted.push(`${principal} to ${forbidden[at]}: ${outcome}`)
    }
    expect(accepted).toEqual([])
  }, 120_000)

  it('shows the members of the fleet to an operator, and refuses a stage for good', async () => {
    const membersFor = async (user: string) =>
      fleetMembers({ bus: await busAs(user), settings: settingsAs(user), log })
    expect(await membersFor('operator')).toEqual(expect.any(Array))
    await expect(membersFor('validator')).rejects.toMatchObject({
      code: 'bus.unauthorized',
      retryable: false,
      message: expect.stringContaining('Grant the permission Describe on all groups of Weir'),
    })
  })

  it.each(lacks)(
    'names the missing right of a stage: $right',
    async ({ user, stage, right }) => {
      const bus = await busAs(user)
      const start = async () => {
        await topicsThere({ bus, topicPrefix, setPartitions: undefined, log })
        const running = await startStages({
          bus,
          topicPrefix,
          partitions,
          log,
          names: [stage],
          agents: new Map(),
        })
        if (right.startsWith('Write')) {
          const accumulator = await busAs('accumulator')
          await accumulator.append([
            { topic: `${topicPrefix}rounds-proposed`, partition: 0, key: 'c', value: Buffer.of(1) },
          ])
        }
        await running.failed.finally(() => running.close().catch(() => {}))
      }
      await expect(start()).rejects.toMatchObject({
        code: expect.stringMatching(/^bus\.(unauthorized|topic-differs)$/),
        message: expect.stringMatching(rightInText(right)),
      })
    },
    60_000,
  )
})
